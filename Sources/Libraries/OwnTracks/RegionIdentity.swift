package import Identities
import JSON
package import Regions

/// What a region listens for if that is no iBeacon.
///
/// The description has the derived UUID, which is all that other programs need. The identity is kept among the extension
/// members of the waypoint, so that every export contains it, and a program that does not know it keeps it.
extension Region {
    static let identityMember = "identity"

    /// The identity of the UUID that the region listens for; nil for an iBeacon, and for a UUID that was changed since.
    package var identity: Identity? {
        guard let uuid = description.pattern?.uuid, !extensionMembers.isEmpty,
            let identity = extensionObject[Self.identityMember]?.string.flatMap({ Identity($0) }), identity.uuid == uuid
        else { return nil }
        return identity
    }

    /// The region with the identity of its description, if that has one, and without the key, if it has one.
    package func keepingIdentity() -> Region {
        guard description.identity != nil || description.key != nil else { return self }
        var region = self
        region.description = RegionDescription(name: description.name, pattern: description.pattern)
        guard let identity = description.identity else { return region }
        var members = extensionObject
        members[Self.identityMember] = .string(identity.text)
        region.extensionMembers = JSONValue.object(members).text
        return region
    }
}
