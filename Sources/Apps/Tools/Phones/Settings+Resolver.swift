import AddressKeys
import Base
import Configuration
import GatewayApp
import Identities
import OwnTracks
import Regions
import Shell
import System

extension Settings {
    /// A resolver with the keys of phones, for commands that hear packets themselves: those that are stored, and those of the
    /// configuration that the service would store. Without the stored keys, they hear the rest.
    ///
    /// - Parameter more: Further keys, such as those of a file of regions.
    func resolver(_ say: (String) -> Void, more: [NamedKey] = []) -> IdentityResolver {
        var phones: [PhoneKeys.Phone] = []
        do throws(Failure) {
            phones = try PhoneKeyFile.all(in: stateDirectory)
        } catch {
            say("the keys of phones were not read: \(error.message)")
        }
        var keys = phones.map(\.key)
        for named in configuration.trackers.flatMap(\.waypoints.keys) + more
        // A phone that has been given another key since keeps that one.
        where !phones.contains(where: { $0.name.hasSameBytes(as: named.name) })
            && !keys.contains(where: { $0.key.unordered == named.key.unordered })
        {
            keys.append(PhoneKey(named.key))
        }
        var resolver = IdentityResolver()
        if !keys.isEmpty, !resolver.setKeys(keys) { say("phones are not heard: libcrypto offers no AES-128") }
        return resolver
    }
}
