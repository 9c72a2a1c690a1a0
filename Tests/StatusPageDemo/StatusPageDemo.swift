import Base
import Configuration
import GatewayEntities
import Glibc
import Health
import HostSupport
import OwnTracks
import PageServer
import StatusPageSupport

/// The status page over a home that does not exist: `status-page-demo [ADDRESS [TOKEN]]`. Lines on
/// standard input make things happen (see `FakeHome.obey`); `ha` prints what Home Assistant would be
/// sent since the last time, one `topic<TAB>payload` on each line. Standard output begins with the port.
@main
struct StatusPageDemo {
    static func main() {
        let arguments = CommandLine.arguments
        guard let address = ListenAddress(arguments.count > 1 ? arguments[1] : "127.0.0.1:0") else { exit(64) }
        let loop = PollLoop()
        let home = FakeHome(host: loop)
        let settings = StatusServerSettings(
            address: address, token: arguments.count > 2 ? arguments[2] : "demo-token-0123456789")
        do {
            let server = try StatusServer(settings: settings, host: loop, source: home)
            say("\(server.port)")
            run(loop, home, server)
            server.stop()
        } catch {
            say("\(error)")
            exit(78)
        }
    }

    private static func run(_ loop: PollLoop, _ home: FakeHome, _ server: StatusServer) {
        var feed = HomeAssistantFeed(.init(prefix: "homeassistant", device: "pi-kitchen", version: "1.0.0"))
        var input: [UInt8] = []
        var isOver = false
        let registration = loop.whenReadable(0) {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = read(0, &bytes, bytes.count)
            guard count > 0 else {
                isOver = true
                return
            }
            input += bytes[..<count]
            while let end = input.firstIndex(of: 10) {
                let line = String(decoding: input[..<end], as: UTF8.self)
                input.removeSubrange(...end)
                if line == "ha" {
                    for message in feed.update(home.statusSnapshot()) { say("\(message.topic)\t\(message.payload)") }
                    say("")
                } else if line.hasPrefix("ha ") {
                    // `ha TOPIC PAYLOAD`: a message from Home Assistant.
                    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                    let request = feed.received(
                        topic: words[1], payload: words.count > 2 ? words[2] : "", isRetained: false, at: loop.now)
                    say(request.map { "\($0)" } ?? "")
                } else {
                    home.obey(line)
                    server.changed()
                }
            }
        }
        while !isOver { loop.run(atMost: .seconds(3600)) { isOver } }
        registration.cancel()
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            offset += count
        }
    }
}
