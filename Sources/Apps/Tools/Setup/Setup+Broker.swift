import Base
import Configuration
import Shell
import System

extension Setup {
    /// Uses the given broker, or searches for one and asks.
    mutating func findBroker() throws {
        // A broker on the command line is not given the login of another one.
        let origin = arguments.has("host") ? nil : origin
        tls = arguments.has("tls") || arguments.has("ca-file") || origin?.broker?.usesTLS == true
        username = arguments.value("username") ?? origin?.username
        password = origin?.password
        if let file = arguments.value("password-file") { password = try Self.password(in: file) }
        if let username, password == nil, dialogue.isInteractive {
            let text = try dialogue.askSecret(
                "Password of '\(Terminal.printable(username))' at the broker (empty: none)")
            password = text.isEmpty ? nil : Secret(text)
        }
        if let file = arguments.value("ca-file") {
            let bytes = try FileAccess.read(file)
            // The file that is in the place of the copy stays as it is, and so does one that a link there names.
            if AtomicFile.resolved(file) != AtomicFile.resolved(authorityPath) { authority = bytes }
        }
        if let broker = origin?.broker {
            host = broker.host
            port = try givenPort() ?? broker.port
            return
        }
        if let given = arguments.value("host") {
            return try take(given, port: try givenPort())
        }
        if !tls { dialogue.show("Looking for an MQTT broker …") }
        let found = tls ? BrokerSearch.Found(isSought: false) : BrokerSearch.find()
        guard dialogue.isInteractive else {
            let broker = try found.chosen(hasPassword: password != nil)
            dialogue.show(found.sentence)
            host = broker.host
            port = try givenPort() ?? broker.port
            return
        }
        dialogue.show(found.sentence)
        let answer = try dialogue.ask("MQTT broker", found.brokers.first?.host ?? "")
        guard !answer.isEmpty else { throw Failure(.usage, "setup needs a broker") }
        try take(answer, port: try givenPort() ?? found.brokers.first { $0.host == answer }?.port)
    }

    /// Takes a broker as a person writes it: with a scheme or a port, too.
    private mutating func take(_ text: String, port given: UInt16?) throws {
        let broker = try BrokerHost(given: text)
        try broker.check(beside: encryptingOption)
        host = broker.name
        tls = broker.tls ?? tls
        port = given ?? broker.port.flatMap(UInt16.init(exactly:)) ?? (tls ? 8883 : 1883)
    }

    /// The option, if any, by which the connection is encrypted.
    private var encryptingOption: String? { ["tls", "ca-file"].first(where: arguments.has) }

    private func givenPort() throws(Failure) -> UInt16? {
        guard let text = arguments.value("port") else { return nil }
        guard let port = UInt16(text) else {
            throw Failure(.usage, "--port '\(text)' is not a port; write 1 to 65535, or 0 for offline")
        }
        return port
    }

    private static func password(in file: String) throws(Failure) -> Secret {
        let line = try FileAccess.readNamed(file).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let text = String(validating: line, as: UTF8.self).flatMap(Secret.withoutMark) else {
            throw Failure(.badData, "the first line of \(file) is empty or not UTF-8")
        }
        return Secret(text)
    }

    /// Connects with the settings of the service, and asks for a login if the broker requires one.
    mutating func testBroker() throws {
        let question = HomeAssistantQuestion(arguments: arguments, dialogue: dialogue)
        guard port != 0, !arguments.has("no-test"), !arguments.has("config-only") else {
            return isInHomeAssistant = try question.answer(lookingAt: nil)
        }
        while true {
            if isInHomeAssistant == nil {
                isInHomeAssistant = try question.answer(lookingAt: try settings().configuration)
            }
            let settings = try settings()
            for warning in settings.configuration.warnings where warning.member == "tls" {
                dialogue.show("Warning: \(warning)")
            }
            dialogue.show("Testing the broker at \(host):\(port) …")
            var hasSite = false
            let findings = try BrokerCheck.findings(
                settings, isServiceRunning: RunningService(of: settings.stateDirectory) != nil, hasSite: &hasSite)
            for finding in findings { for line in finding.lines { dialogue.show("  " + line) } }
            if findings.allSatisfy(\.isWell) { return }
            guard dialogue.isInteractive else {
                let without = isInHomeAssistant == true && question.given == nil
                throw Failure(
                    .unavailable,
                    "the broker cannot be used as it is; nothing was written (--no-test writes anyway"
                        + (without ? "; Home Assistant uses it, and --no-home-assistant leaves that out)" : ")"))
            }
            // A login helps where something answers.
            try mend(isReached: findings.contains(where: \.isWell))
        }
    }

    /// Asks for other answers after a failure, or ends.
    private mutating func mend(isReached: Bool) throws {
        if try isReached && dialogue.confirm("Try with a user name and password?", username == nil) {
            username = try dialogue.ask("User name", username ?? "")
            guard username?.isEmpty == false else {
                // MQTT 3.1.1, 3.1.2.9: no password without a user name.
                (username, password) = (nil, nil)
                return
            }
            let text = try dialogue.askSecret("Password")
            password = text.isEmpty ? nil : Secret(text)
        } else if try dialogue.confirm("Try another broker?", true) {
            let other = try OtherBroker(
                asking: dialogue, after: (host, port), username: username, beside: encryptingOption)
            (host, port, tls) = (other.host, other.port, other.tls)
            if !other.getsLogin { (username, password) = (nil, nil) }
        } else {
            throw Failure(.unavailable, "no usable broker; nothing was written")
        }
    }

    /// Asks for the room and the two-letter tracker id.
    mutating func nameRoom() throws {
        room = try arguments.value("room") ?? origin?.room ?? dialogue.ask("Which room is this", Settings.hostName)
        floor = try FloorOption.value(of: arguments)
        device = arguments.value("device")
        let standard = String(deviceID.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(2)).uppercased()
        trackerID =
            try arguments.value("tid") ?? dialogue.ask("Tracker id, two characters", standard.isEmpty ? "GW" : standard)
        _ = try settings()
    }
}
