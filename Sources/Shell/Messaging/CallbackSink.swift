import Base
import CMosquitto
import Glibc

/// Records the arguments of libmosquitto's callbacks. The broker's thread reads them after each call into the library,
/// so a callback never calls the library again.
final class CallbackSink {
    struct Connack {
        var code: UInt8
        var sessionPresent: Bool
        var limits = BrokerLimits.none
    }

    struct Completion {
        var messageID: Int32
        /// 0, or a reason code of MQTT 5.
        var code: UInt8
    }

    struct Suback {
        var messageID: Int32
        var granted: [Int32]
    }

    var connack: Connack?
    /// The reason code of MQTT 5's DISCONNECT.
    var disconnectCode: UInt8?
    var completions: [Completion] = []
    var subacks: [Suback] = []
    var messages: [ReceivedMessage] = []
    /// Messages whose topic is not UTF-8, those that lost their payload, and those that came too fast.
    var droppedMessages = 0
    private let transientFilters: [String]
    /// How a line of libmosquitto's log begins that tells of a received packet, with the NUL of a C string.
    private let receipt: [CChar]
    private var rates: TopicRates
    /// Number of callbacks and answers to pings: it grows with each packet that libmosquitto has read and reported.
    private(set) var activity = 0
    /// Topics of messages without their payload that libmosquitto has not reported yet, with their number.
    var cutTopics: [String: Int] = [:]
    /// A QoS 2 message came, although all subscriptions have a lower QoS.
    var hasExactlyOnce = false
    /// The first error lines of the library's log since the attempt began.
    var complaints: [String] = []
    /// OpenSSL's verification error for the broker's certificate.
    var certificateProblem: String?

    init(_ settings: BrokerSettings) {
        transientFilters = Array(settings.transientFilters)
        receipt = Array("Client \(settings.clientID) received ".utf8CString)
        rates = TopicRates(settings.limits)
    }

    /// Clears the records of one connection, before the next.
    func beginAttempt() {
        connack = nil
        disconnectCode = nil
        complaints = []
        certificateProblem = nil
        cutTopics = [:]
        hasExactlyOnce = false
    }

    /// Clears the records that were reported to the owner.
    func forgetReported() {
        completions = []
        subacks = []
        messages = []
        droppedMessages = 0
    }

    func receive(_ message: mosquitto_message) {
        guard let topic = String(validatingCString: message.topic), !isCut(message, topic),
            let qos = QoS(rawValue: UInt8(clamping: message.qos))
        else {
            droppedMessages += 1
            return
        }
        let isTransient = isTransient(topic)
        guard rates.admits(topic, isTransient: isTransient, at: .now) else {
            droppedMessages += 1
            return
        }
        // libmosquitto gives NULL for an empty payload.
        let payload = [UInt8](UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
        var received = ReceivedMessage(topic: topic, payload: payload, qos: qos, retained: message.retain)
        received.isTransient = isTransient
        messages.append(received)
    }

    private func isTransient(_ topic: String) -> Bool {
        transientFilters.contains { TopicFilter.matches($0, topic) }
    }

    /// Whether the filter removed the payload.
    private func isCut(_ message: mosquitto_message, _ topic: String) -> Bool {
        guard message.payloadlen == 0, let count = cutTopics[topic] else { return false }
        cutTopics[topic] = count > 1 ? count - 1 : nil
        return true
    }

    func called() { activity += 1 }

    /// Takes a debugging line of libmosquitto's log, which is the only sign of two packets (2.0.11 to 2.1.2):
    /// - the answer to a ping, "Client ID received PINGRESP" (`handle__pingresp`): it has no callback, and on a connection
    ///   without messages nothing else comes;
    /// - a message of QoS 2, "Client ID received PUBLISH (d0, q2, …" (`handle__publish`): libmosquitto keeps it until the
    ///   broker's PUBREL without a callback.
    ///
    /// The lines also contain topics, in which others may write these words. So they count only at the beginning.
    func note(logLine line: UnsafePointer<CChar>) {
        // Called for each packet: nothing is copied.
        let length = receipt.count - 1
        guard strncmp(line, receipt, length) == 0 else { return }
        let packet = line + length
        if strcmp(packet, "PINGRESP") == 0 { called() }
        if strncmp(packet, "PUBLISH (d0, q2", 15) == 0 || strncmp(packet, "PUBLISH (d1, q2", 15) == 0 {
            hasExactlyOnce = true
        }
    }

    func recordComplaint(_ complaint: String, from client: OpaquePointer?) {
        if complaints.count < 8 { complaints.append(complaint) }
        // OpenSSL's error text does not distinguish an expired certificate from an unknown authority. Its verification
        // result does, and it certainly exists only here.
        if certificateProblem == nil, complaint.hasPart("certificate verify failed") {
            certificateProblem = CertificateVerdict.of(client)
        }
    }
}
