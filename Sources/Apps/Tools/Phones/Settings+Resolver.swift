import AddressKeys
import GatewayApp
import Identities
import Shell
import System

extension Settings {
    /// A resolver with the keys of phones, for commands that hear packets themselves. Without the keys, they hear the rest.
    func resolver(_ say: (String) -> Void) -> IdentityResolver {
        var resolver = IdentityResolver()
        do throws(Failure) {
            let keys = try PhoneKeyFile.all(in: stateDirectory).map(\.key)
            if !keys.isEmpty, !resolver.setKeys(keys) { say("phones are not heard: libcrypto offers no AES-128") }
        } catch {
            say("the keys of phones were not read: \(error.message)")
        }
        return resolver
    }
}
