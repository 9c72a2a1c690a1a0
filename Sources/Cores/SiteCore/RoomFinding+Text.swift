package import Rooms

extension RoomEngine.Finding {
    /// A description for users, with advice.
    package var text: String {
        switch self {
        case .deaf(let gateway):
            "gateway \(gateway) receives nothing while others do; check its radio and its antenna"
        case .hears(let gateway): "gateway \(gateway) receives again"
        case .shared(let gateway):
            "several gateways are called \(gateway), so their readings cannot be told apart; give each its own deviceId"
        case .tooManyGateways: "there are more gateways than a site can have; the latest ones are ignored"
        case .tooManyRooms: "there are more rooms than a site can have; the latest ones are ignored"
        }
    }
}
