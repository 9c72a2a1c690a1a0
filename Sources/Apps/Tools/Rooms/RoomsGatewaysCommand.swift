import Base
import JSON
import RoomsApp
import Shell
import SiteProtocol
import System

/// `rooms gateways`: lists and removes the gateways of a site, and says that one was carried to another room.
enum RoomsGatewaysCommand {
    static let actions = ["list", "moved", "remove"]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let words = Array(arguments.operands.dropFirst())
        switch (words.first, words.count) {
        case (nil, _), ("list", 1): return try list(arguments)
        case ("remove", 2): return try remove(words[1], arguments)
        case ("moved", 2): return try sayMoved(words[1], arguments)
        case ("moved", _): throw Failure(.usage, "name the gateway: rooms gateways moved NAME")
        case ("remove", _): throw Failure(.usage, "name the gateway: rooms gateways remove NAME")
        case (let word?, _):
            throw Failure(
                .usage,
                "unknown command 'rooms gateways \(words.joined(separator: " "))'\(hint(for: word, among: actions))")
        }
    }

    private static func list(_ arguments: Arguments) throws -> ExitCode {
        let topics = try SiteTopics(
            try Settings.load(arguments), filters: SiteStatus.filters, optional: SiteStatus.optionalFilters)
        defer { topics.close() }
        try topics.collect()
        try topics.watchCards()
        let status = SiteStatus(topics)
        if arguments.has("json") {
            Terminal.print(json: status.gatewaysJSON.text)
        } else {
            Terminal.print(status.gatewaysText)
        }
        return .ok
    }

    /// Longest time that the service may take to forget a gateway.
    private static let patience: Duration = .seconds(10)

    /// The gateway was carried to the room that it names now: what was set aside of it is wrong.
    private static func sayMoved(_ name: String, _ arguments: Arguments) throws -> ExitCode {
        let topics = try LearnDialogue.topics(arguments)
        defer { topics.close() }
        try topics.collect()
        try topics.watchCards()
        let status = SiteStatus(topics)
        let gateway = try status.gateway(name)
        try status.needActiveService()
        guard gateway.formerRoom != nil || gateway.survey?.change != nil else {
            throw Failure(
                .badData, "there is no question whether \(name) was carried; see: ibeacon-gateway rooms status")
        }
        let site = topics.identity.site
        // The question was open before, so that its end shows that a service of an earlier version has done it.
        try LearnDialogue.ask(.moved(gateway: name), topics) { retained in
            let health = retained[RoomTopic.health(site: site, gateway: name).text].flatMap(HealthMessage.init)
            return health?.formerRoom == nil && health?.survey?.change == nil
        }
        return .ok
    }

    /// Removes the card of a gateway. The active service then forgets the gateway and clears its own messages about it.
    private static func remove(_ name: String, _ arguments: Arguments) throws -> ExitCode {
        let topics = try SiteTopics(try Settings.load(arguments), filters: SiteStatus.filters)
        defer { topics.close() }
        try topics.collect()
        try topics.watchCards()
        let site = topics.identity.site
        let status = SiteStatus(topics)
        let gateway = try status.gateway(name)
        try status.needActiveService()
        try topics.publish(.card(site: site, gateway: name), [], isRetained: true)
        let health = RoomTopic.health(site: site, gateway: name).text
        try topics.wait(Self.patience) { $0[health] == nil }
        guard topics.retained[health] == nil else {
            throw Failure(
                .unavailable, "the service still names \(name); does rooms.gateways of its configuration hold it?")
        }
        if gateway.availability == "online" {
            Terminal.printError(
                "\(name) is online and comes back when it connects again; write rooms: null in its configuration")
        }
        return .ok
    }
}
