import Testing

@testable import Messaging

@Suite struct CallbackSinkTests {
    private func sink(of clientID: String = "gateway") -> CallbackSink {
        CallbackSink(BrokerSettings(hosts: [], port: 1883, clientID: clientID))
    }

    @Test(arguments: ["gateway", "a gateway (1)", "x received PUBLISH (d0, q2", "x received PINGRESP"])
    func `A message of QoS 2 and the answer to a ping are known by the library's log`(clientID: String) {
        let sink = sink(of: clientID)
        sink.note(logLine: "Client \(clientID) received PINGRESP")
        #expect(sink.activity == 1)
        #expect(!sink.hasExactlyOnce)
        sink.note(logLine: "Client \(clientID) received PUBLISH (d0, q1, r0, m7, 'a', ... (3 bytes))")
        #expect(!sink.hasExactlyOnce)
        sink.note(logLine: "Client \(clientID) received PUBLISH (d0, q2, r0, m7, 'a', ... (3 bytes))")
        #expect(sink.hasExactlyOnce)
        sink.beginAttempt()
        sink.note(logLine: "Client \(clientID) received PUBLISH (d1, q2, r0, m7, 'a', ... (3 bytes))")
        #expect(sink.hasExactlyOnce)
        #expect(sink.activity == 1)
    }

    @Test(
        arguments: [
            "Client gateway received PUBLISH (d0, q1, r1, m7, 'a received PUBLISH (d0, q2', ... (3 bytes))",
            "Client gateway sending PUBLISH (d0, q1, r0, m7, 'Client gateway received PUBLISH (d0, q2', ... (3 bytes))",
            // The library cuts long lines.
            "Client gateway received PUBLISH (d0, q1, r1, m7, 'Client gateway received PINGRESP",
            "Client gateway sending SUBSCRIBE (Mid: 1, Topic: a received PINGRESP",
            "Client gateway2 received PINGRESP", "Client gateway", "",
        ])
    func `Topics that look like the library's log are no sign`(line: String) {
        let sink = sink()
        sink.note(logLine: line)
        #expect(sink.activity == 0)
        #expect(!sink.hasExactlyOnce)
    }
}
