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
        case .tooManyGateways(let newest, let idle):
            "there are more than \(RoomEngine.mostGateways) gateways; '\(newest)' came last. These were never heard, or not "
                + "for long, and give way first if they are silent for a day: \(idle.joined(separator: ", ")). Remove those "
                + "that do not exist ('rooms gateways remove'), and find the client that writes their cards or 'heard'"
        case .tooManyRooms(let newest, let idle):
            "there are more than \(RoomEngine.mostRooms) rooms; '\(newest)' came last. Forget those that do not exist "
                + "('rooms forget'), and find the client that writes them to 'learn' or to a gateway's card; without a gateway: "
                + (idle.isEmpty ? "none" : idle.joined(separator: ", "))
        }
    }
}
