import JSON
import Messaging
import Testing

@testable import Configuration
@testable import Tools

/// What `status` and `doctor` print.
@Suite struct StatusTextTests {
    @Test func `Each cell of a region stands below its title, and what is not known is empty`() {
        let status: JSONValue = [
            "trackers": [
                [
                    "tid": "K1",
                    "regions": [
                        [
                            "name": "Kitchen", "inside": true, "sinceAgo": 61, "rssi": -60, "distance": .null,
                            "heardAgo": 2, "battery": ["percent": 9, "low": true],
                        ]
                    ],
                ]
            ]
        ]
        let table = """
            TRACKER  REGION   STATE   SINCE      BEACON  RSSI     DISTANCE  HEARD      LEAVES IN  BATTERY
            K1       Kitchen  inside  1 min 1 s          -60 dBm            2.0 s ago             9 % low
            """
        #expect(StatusText(status).text.contains(table))
    }

    @Test func `A refused login names the user and the client id that were tried`() {
        var broker = Broker(clientID: "janehall")
        let refused = BrokerFailure.notAccepted(code: 5)
        let anonymous = DoctorChecks.failure(refused, clientID: "janehall-doctor", broker)
        #expect(anonymous.text.hasSuffix("; tried without a login, client id 'janehall-doctor'"))
        broker.username = "jane"
        let named = DoctorChecks.failure(refused, clientID: "janehall-doctor", broker)
        #expect(named.text.hasSuffix("; tried as 'jane', client id 'janehall-doctor'"))
        #expect(!DoctorChecks.failure(.silent, clientID: "janehall-doctor", broker).text.contains("client id"))
    }
}
