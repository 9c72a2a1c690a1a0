import Glibc
import System

/// `setup`: makes the first configuration from answers or options.
enum SetupCommand {
    static let specification = CommandSpecification(
        "setup", "find the broker, create the first region, write the configuration, and start the service",
        options: [
            OptionSpecification(
                "from", "FILE", "a configuration of room-assistant (YAML): takes what it can, and names the rest"),
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
            OptionSpecification("tid", "TID", "tracker id, two characters for maps (default: from the room)"),
            OptionSpecification("region", "NAME", "name of the first region (default: Beacon)"),
            OptionSpecification(
                "beacon", "BEACON", "UUID[:MAJOR[:MINOR]] of the first region, 'strongest', or 'none'"),
            OptionSpecification("listen", "SECONDS", "how long to listen for beacons (default 10)"),
            OptionSpecification("phone", "NAME", "enrol a phone or watch under this name, as 'phones add' does"),
            OptionSpecification("keyboard", nil, "for the phone: appear as a keyboard, which Samsung phones list"),
            OptionSpecification("scanner", "WAY", "auto, mgmt, hci, bluez, or the path of a recording"),
            OptionSpecification(
                "rooms-service", nil, "run the rooms service on this machine; one machine per site does"),
            OptionSpecification("no-test", nil, "do not test the broker"),
            OptionSpecification("no-service", nil, "do not start or restart the service"),
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

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "setup takes no '\(word)'; --room \(word)?") }
        let asks = !arguments.has("yes")
        guard !asks || isatty(STDIN_FILENO) == 1 else {
            throw Failure(.usage, "standard input is not a terminal; give the answers as options, and --yes")
        }
        var setup = Setup(arguments, Dialogue(isInteractive: asks))
        try setup.prepare()
        try setup.readRoomAssistant()
        try setup.findBroker()
        try setup.nameRoom()
        try setup.testBroker()
        try setup.chooseRegion()
        try setup.choosePhone()
        try setup.chooseRoomsService()
        try setup.write()
        let isComplete = try setup.enrolPhone()
        try setup.startService()
        try setup.startRoomsService()
        setup.conclude()
        return isComplete ? .ok : .unavailable
    }
}
