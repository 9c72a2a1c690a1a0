/// Why the list of another gateway is ignored.
enum PhoneListError: Error, CustomStringConvertible {
    case unknownVersion
    case otherGateway

    var description: String {
        switch self {
        case .unknownVersion: "it is not a list of this version"
        case .otherGateway: "it is the list of another gateway"
        }
    }
}
