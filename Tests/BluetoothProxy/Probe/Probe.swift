import Base
import Beacon
import BluetoothProxy
import Encryption
import Glibc
import ProxyLink
import Runtime
import System

/// Serves a Bluetooth proxy whose radio is a line on standard input, and says on standard output what it does.
///
/// usage: proxy-probe PORT KEY [HOME]
///   PORT   0 for any free one; the first line is `port N`
///   KEY    32 bytes, base64
///   HOME   the address of a Home Assistant that has adopted it
///
/// Lines that it reads: `feed RATE SECONDS`, so many packets in a second, each with its number and the time on CLOCK_BOOTTIME in
/// nanoseconds in its data; `birth`; `status`; `quit`.
@main enum Probe {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count >= 3, let port = UInt16(words[1]), let bytes = Self.key(words[2]), let key = ProxyKey(bytes),
            let functions = NoiseFunctions()
        else { exit(64) }
        let address = DeviceAddress(value: 0xB827_EB00_1122, isRandom: false)
        var settings = ProxySettings(
            name: "probe", friendlyName: "Probe", macAddress: address,
            bluetoothAddress: DeviceAddress(value: 0xAABB_CC00_1122, isRandom: false), projectVersion: "1.0")
        settings.area = "Kitchen"
        let loop = try EventLoop()
        let link = try ProxyLink(
            settings, key: key, functions: functions, host: "127.0.0.1", port: port, loop: loop, refusal: { _ in nil })
        link.onEffect = { say("\($0)") }
        say("port \(link.port)")
        link.handle(.scan(ProxyScan(state: .running)))
        if words.count > 3 { link.handle(.homes([words[3]])) }
        let feed = try Feed(link, loop)
        let input = try loop.watch(STDIN_FILENO) { _ in
            guard let line = readLine() else { return loop.exit(0) }
            let words = line.split(separator: " ")
            switch words.first {
            case "feed" where words.count == 3: feed.start(Int64(words[1]) ?? 0, .seconds(Int64(words[2]) ?? 0))
            case "birth": link.handle(.homeAssistantStarted)
            case "status": say(feed.usage)
            case "quit":
                link.stop()
                loop.exit(0)
            default: say("unknown \(line)")
            }
        }
        let code = try withExtendedLifetime((input, feed)) { try loop.run() }
        exit(code)
    }

    private static func key(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for digit in text.utf8 where digit != UInt8(ascii: "=") {
            guard let value = digits.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    static func say(_ line: String) {
        // Whoever reads has ended if this fails.
        try? writeAll(Array("\(line)\n".utf8), to: STDOUT_FILENO)
    }
}
