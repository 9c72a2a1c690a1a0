extension Setup {
    /// Asks whether this machine runs the rooms service. A site needs one, whatever the number of its gateways.
    mutating func chooseRoomsService() throws {
        guard isForService, SystemService.rooms.isInstalled else {
            guard !arguments.has("rooms-service") else { throw SetupServices.noRooms(isForService: isForService) }
            return
        }
        // The service stays as it is if the option is missing and no person can be asked.
        guard !arguments.has("rooms-service"), dialogue.isInteractive else {
            return runsRoomsService = arguments.has("rooms-service") ? true : nil
        }
        runsRoomsService = try dialogue.confirm(
            "Should this machine decide which room a tag is in? One machine per site does.",
            SystemService.rooms.isRunning)
    }
}
