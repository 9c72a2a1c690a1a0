import Beacon
import SiteProtocol

/// What ESPresense nodes call the beacons of a site.
extension SiteStatus {
    /// The ids that ESPresense's settings give to the beacons of tags, by the names of the tags. Others, such as a neighbour's, are not
    /// shown.
    var shownAliases: [String: String] {
        var shown: [String: String] = [:]
        for tag in listed {
            guard let beacon = tag.beacon, let alias = aliases[beacon] else { continue }
            shown[tag.name ?? tag.id ?? "\(beacon)"] = alias
        }
        return shown
    }

    /// Facts about nodes, for users.
    var nodeRemarks: [String] { NodeNames(ofTags: shownAliases, all: aliases.values).remarks(unread) }
}
