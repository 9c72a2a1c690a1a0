import TestSupport
import Testing

/// `rooms compare`, as a person runs it.
@Suite struct RoomsCompareTests {
    private static let start = 1_795_291_200

    /// A minute of a tag in the kitchen and one in the hall.
    private static let recording: String = {
        func line(_ second: Int, _ topic: String, _ payload: String) -> String {
            #"{"tst":\#(start + second),"topic":"ibeacon-rooms/home/\#(topic)","payload":\#(payload)}"#
        }
        var lines = [
            line(
                0, "tags",
                #"{"v":1,"version":1,"by":"a","tags":[{"uuid":"11112222-3333-4444-5555-666677778888","major":1,"minor":7,"id":"jane","name":"Jane"}],"patterns":[{"uuid":"533B9EE0-DC87-5E74-A527-5E88F94E944D","id":"bike","name":"Bike"}]}"#
            ),
            line(0, "gateway/k", #"{"v":1,"room":"Kitchen"}"#), line(0, "gateway/o", #"{"v":1,"room":"Office"}"#),
        ]
        for second in 1...120 {
            for gateway in ["k", "o"] {
                let level = (gateway == "k") == (second <= 60) ? -55 : -80
                let beacons = ["11112222-3333-4444-5555-666677778888:1:7", "533B9EE0-DC87-5E74-A527-5E88F94E944D:0:0"]
                    .map { #"{"id":"\#($0)","n":3,"rssi":\#(level),"max":-50,"power":-59,"age":0}"# }
                lines.append(
                    line(
                        second, "heard/\(gateway)",
                        #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[\#(beacons.joined(separator: ","))]}"#
                    ))
            }
        }
        return lines.joined(separator: "\n")
    }()

    /// - Returns: The exit status, and what it printed.
    private func compare(truth: String?) throws -> (status: Int32, text: String) {
        let directory = try TemporaryDirectory()
        var arguments = ["rooms", "compare", try directory.write(Self.recording, to: "house.jsonl")]
        if let truth { arguments += ["--truth", try directory.write(truth, to: "truth.csv")] }
        let status = try ChildProcess(try GatewayProcess.program, arguments, output: directory.file("out")).wait()
        return (status, String(decoding: try directory.read("out"), as: UTF8.self))
    }

    @Test func `It says for which tag a fixed address was assumed`() throws {
        let (status, text) = try compare(truth: nil)
        #expect(status == 0 && text.contains("\nJane, heard 240 times\n"), "\(text)")
        #expect(text.contains("\nBike, heard 240 times, taken for a fixed address\n"), "\(text)")
        #expect(text.contains("\ntaken for a fixed address: the UUID stands for one"), "\(text)")
    }

    @Test func `With the truth there are its columns, whatever form of a room's name a person writes`() throws {
        let (status, text) = try compare(truth: "\(Self.start),jane,KITCHEN\n\(Self.start + 60),Jane,office")
        #expect(status == 0 && text.contains("seconds to change"), "\(text)")
        #expect(!text.contains("truth.csv:"), "\(text)")
    }

    @Test func `A tag and a room of the truth that do not exist are named, with what was meant`() throws {
        let lines = ["\(Self.start),Jane,Kitchen", "\(Self.start + 60),Jan,Office", "\(Self.start + 60),Jane,Ofice"]
        let (status, text) = try compare(truth: lines.joined(separator: "\n"))
        #expect(status == 0 && text.contains("truth.csv: there is no tag 'Jan'; did you mean 'Jane'?"), "\(text)")
        let room =
            "truth.csv: no gateway is in the room 'Ofice', so that no program can name it; did you mean 'Office'?"
        #expect(text.contains(room), "\(text)")
    }

    @Test func `A truth that names no tag of the recording, or no time of it, is bad data`() throws {
        let tags = try compare(truth: "\(Self.start),Jan,Kitchen")
        #expect(tags.status == 65 && tags.text.contains("truth.csv names no tag that was heard"), "\(tags.text)")
        #expect(tags.text.contains("heard were: Jane, Bike"), "\(tags.text)")
        let times = try compare(truth: "\(Self.start + 3600),Jane,Kitchen")
        #expect(times.status == 65 && times.text.contains("says of no time of the recording"), "\(times.text)")
    }
}
