import Base
import Foundation
import JSON
import RoomMessages
import SiteCore
import Testing

/// The configuration for Telegraf in the documents reads what the program publishes. Telegraf itself is not run.
@Suite struct TelegrafTests {
    /// One `inputs.mqtt_consumer`: its topics, and for each path the type that it wants (nil: a tag) and whether it may be missing.
    private struct Consumer {
        var topics: [String] = []
        var parsed: [String] = []
        var names: [String] = []
        var paths: [(path: String, type: String?, isOptional: Bool)] = []
    }

    private static func consumers() throws -> [Consumer] {
        let path = "\(#filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" })/Docs/telegraf.conf"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var consumers: [Consumer] = []
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) where !line.hasPrefix("#") {
            if line == "[[inputs.mqtt_consumer]]" { consumers.append(Consumer()) }
            guard let last = consumers.indices.last else { continue }
            let parts = line.components(separatedBy: " = ")
            let words = line.components(separatedBy: "\"")
            switch parts[0] {
            case "topics": consumers[last].topics = stride(from: 1, to: words.count, by: 2).map { words[$0] }
            case "topic": consumers[last].parsed.append(words[1])
            case "tags": consumers[last].names.append(words[1])
            case "path", "timestamp_path": consumers[last].paths.append((words[1], nil, false))
            case "type": consumers[last].paths[consumers[last].paths.count - 1].type = words[1]
            case "optional": consumers[last].paths[consumers[last].paths.count - 1].isOptional = parts[1] == "true"
            default: break
            }
        }
        return consumers
    }

    /// What a site publishes while a tag walks from one room to another.
    private static func messages() -> [Publication] {
        func line(_ topic: String, _ payload: String, _ second: Int, retain: Int) -> String {
            let time = "2026-11-21T23:00:\(second < 10 ? "0" : "")\(second).500000Z+0000"
            return
                #"{"tst":"\#(time)","topic":"ibeacon-rooms/home/\#(topic)","qos":0,"retain":\#(retain),"payload":\#(JSONValue.string(payload).text)}"#
        }
        func heard(_ gateway: String, _ level: Int, _ second: Int) -> String {
            let beacon =
                #"{"id":"11112222-3333-4444-5555-666677778888:1:7","n":3,"rssi":\#(level),"max":-50,"power":-59,"age":12}"#
            let head = #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4"#
            return line("heard/\(gateway)", "\(head),\"beacons\":[\(beacon)]}", second, retain: 0)
        }
        let tags = #"{"v":1,"tags":[{"uuid":"11112222-3333-4444-5555-666677778888","major":1,"minor":7}]}"#
        var lines = [line("tags", tags, 0, retain: 1)]
        lines.append(line("gateway/k", #"{"v":1,"room":"Kitchen"}"#, 0, retain: 1))
        lines.append(line("gateway/h", #"{"v":1,"room":"Hall"}"#, 0, retain: 1))
        for second in 1..<24 {
            lines.append(heard("k", second < 12 ? -55 : -78, second))
            lines.append(heard("h", second < 12 ? -75 : -52, second))
        }
        var replay = RoomReplay(SiteSettings())
        var messages: [Publication] = []
        for line in lines { _ = try? replay.play(line: Array(line.utf8), { messages.append($0.message) }, { _ in }) }
        replay.run(for: .seconds(2), { messages.append($0.message) }, { _ in })
        return messages
    }

    private static func matches(_ topic: String, _ filter: String) -> Bool {
        let (levels, wanted) = (topic.split(separator: "/"), filter.split(separator: "/"))
        return levels.count == wanted.count && zip(levels, wanted).allSatisfy { $1 == "+" || $0 == $1 }
    }

    private static func fits(_ value: JSONValue, _ type: String?) -> Bool {
        switch type {
        case "bool": value.asBool != nil
        case "int": value.asInteger != nil
        case "float": value.asNumber != nil
        case "string": value.string != nil
        default: value.string != nil || value.asInteger != nil
        }
    }

    @Test func `Each topic has messages, and each path a value of its type in all of them`() throws {
        let consumers = try Self.consumers()
        let messages = Self.messages()
        #expect(consumers.count == 3)
        for consumer in consumers {
            #expect(consumer.topics == consumer.parsed)
            #expect(
                consumer.names.map { $0.split(separator: "/").count }
                    == consumer.topics.map { $0.split(separator: "/").count })
            #expect(!consumer.paths.isEmpty)
            for topic in consumer.topics {
                let found = messages.filter { Self.matches($0.topic, topic) }
                #expect(found.count >= 2, "\(topic)")
                for (path, type, isOptional) in consumer.paths {
                    let values = try found.map { try JSONValue(parsing: $0.payload)[path] }
                    #expect(values.contains { $0 != nil }, "\(topic): \(path)")
                    // A tag that is away has null for its room.
                    let isWhole = values.allSatisfy { value in
                        guard let value, value != .null else { return isOptional }
                        return Self.fits(value, type)
                    }
                    #expect(isWhole, "\(topic): \(path) is \(values)")
                }
            }
        }
    }
}
