import Glibc
import System

/// `setup`: makes the first configuration from answers or options.
enum SetupCommand {
    static let specification = CommandSpecification(
        "setup", "find the broker, create the first region, write the configuration, and start the service",
        options: [
            OptionSpecification(
                "from", "FILE",
                "a phone's configuration (.otrc): takes broker, login and waypoints; or that of room-assistant (YAML)"),
            OptionSpecification(
                "host", "HOST", "the broker (default: search on this machine and in the local network)"),
            OptionSpecification("port", "PORT", "port of the broker (default 1883, or 8883 with --tls)"),
            OptionSpecification("tls", nil, "encrypt the connection to the broker"),
            OptionSpecification(
                "ca-file", "FILE", "certificate authority of the broker; copied to ca.pem beside the configuration"),
            OptionSpecification("username", "NAME", "user name at the broker"),
            OptionSpecification(
                "password-file", "FILE", "a file whose first line is the password; '-' is standard input"),
            OptionSpecification("room", "NAME", "room of this gateway (default: the host name)"),
            OptionSpecification(
                "floor", "NUMBER", "floor of that room, 0 for the ground floor (default: not said); for a rooms service"
            ),
            OptionSpecification("device", "NAME", "name of this gateway in topics (default: from the room)"),
            OptionSpecification("tid", "TID", "tracker id, two characters for maps (default: from the room)"),
            OptionSpecification("lat", "DEGREES", "latitude of the gateway (default: that of the home in --from)"),
            OptionSpecification("lon", "DEGREES", "longitude of the gateway"),
            OptionSpecification("home-assistant", nil, "describe gateway and beacons to Home Assistant"),
            OptionSpecification(
                "no-home-assistant", nil, "do not describe them, and do not look for Home Assistant at the broker"),
            OptionSpecification("region", "NAME", "name of the beacon of --beacon (default: Beacon)"),
            OptionSpecification(
                "beacon", "BEACON", "UUID[:MAJOR[:MINOR]] of the first region, 'strongest', or 'none'"),
            OptionSpecification(
                "person", nil, "the beacon of --beacon goes where a person goes: it is a tracker of its own"),
            OptionSpecification("listen", "SECONDS", "how long to listen for beacons (default 10)"),
            OptionSpecification("phone", "NAME", "enrol a phone or watch under this name, as 'phones add' does"),
            OptionSpecification("keyboard", nil, "for the phone: appear as a keyboard, which Samsung phones list"),
            OptionSpecification("scanner", "WAY", "auto, mgmt, hci, bluez, or the path of a recording"),
            OptionSpecification(
                "rooms-service", nil, "run the rooms service on this machine; one machine per site does"),
            OptionSpecification(
                "bluetooth-proxy", nil, "let a Home Assistant on another machine hear through this one; makes a key"),
            OptionSpecification(
                "open-page", nil, "let other machines reach the page, with its token or a link of 'status --link'"),
            OptionSpecification(
                "remote-configuration", nil,
                "let settings be changed on the page, and by setConfiguration at the broker"),
            OptionSpecification("no-test", nil, "do not test the broker"),
            OptionSpecification("no-service", nil, "do not start or restart the service"),
            OptionSpecification(
                "config-only", nil,
                "write the configuration alone, with no questions, test, beacons or service; a second run changes nothing"
            ),
            OptionSpecification("force", nil, "replace an existing configuration; all replaced files are kept as .old"),
            OptionSpecification("yes", nil, "ask no questions"),
        ],
        examples: [
            ("sudo ibeacon-gateway setup", "asks for what it cannot find"),
            (
                "sudo ibeacon-gateway setup --yes --host broker.lan --room Kitchen --beacon strongest --region Keys",
                "asks no questions"
            ),
            (
                "sudo ibeacon-gateway setup --from room-assistant.yml --rooms-service",
                "the broker, the room and the tags of room-assistant"
            ),
        ])

    /// What `--config-only` leaves out.
    private static let beyondConfiguration = [
        "beacon", "region", "person", "listen", "phone", "keyboard", "rooms-service",
    ]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "setup takes no '\(word)'; --room \(word)?") }
        let writesAlone = arguments.has("config-only")
        for option in beyondConfiguration where writesAlone && arguments.has(option) {
            throw Failure(.usage, "--\(option) does not go with --config-only, which writes the configuration alone")
        }
        guard !(arguments.has("home-assistant") && arguments.has("no-home-assistant")) else {
            throw Failure(.usage, "--home-assistant and --no-home-assistant exclude each other")
        }
        guard !(arguments.has("rooms-service") && arguments.has("no-service")) else {
            throw Failure(
                .usage, "--rooms-service starts a service, and --no-service starts none; give only one of them")
        }
        try SetupScanner(arguments.value("scanner")).check()
        let asks = !arguments.has("yes") && !writesAlone
        guard !asks || isatty(STDIN_FILENO) == 1 else {
            throw Failure(.usage, "standard input is not a terminal; give the answers as options, and --yes")
        }
        try BeaconQuestion.check(arguments, asks: asks)
        var setup = Setup(arguments, Dialogue(isInteractive: asks))
        guard !arguments.has("keyboard") || arguments.has("phone") || setup.asksForPhone else {
            throw Failure(.usage, "--keyboard is for the phone of --phone, and none is named; add --phone NAME")
        }
        try setup.prepare()
        setup.origin = try SetupOrigin.read(arguments, setup.dialogue)
        try setup.findBroker()
        try setup.nameRoom()
        try setup.testBroker()
        try setup.chooseBeacons()
        if !writesAlone {
            try setup.choosePhone()
            try setup.chooseRoomsService()
        }
        setup.proxy = try SetupProxy(
            arguments, setup.dialogue, asks: setup.isForService && setup.isInHomeAssistant == true, beside: setup.path)
        setup.page = try SetupPage(arguments, setup.dialogue, asks: setup.isForService && !writesAlone)
        let isNew = try setup.write()
        try setup.page?.makeToken(in: setup.stateDirectory)
        guard !writesAlone else {
            if !isNew { setup.dialogue.show("\(setup.path) is already as wanted.") }
            return .ok
        }
        let isComplete = try setup.enrolPhone()
        let services = SetupServices(stateDirectory: setup.stateDirectory, dialogue: setup.dialogue)
        let isStarted = try setup.isForService && services.startGateway()
        if let isWanted = setup.runsRoomsService { try services.switchRoomsService(on: isWanted) }
        try setup.conclusion(isStarted: isStarted).show()
        return isComplete ? .ok : .temporaryFailure
    }
}
