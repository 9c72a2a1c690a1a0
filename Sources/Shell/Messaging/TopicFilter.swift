import CMosquitto

/// A topic filter of MQTT, with `+` and `#`.
package enum TopicFilter {
    package static func matches(_ filter: String, _ topic: String) -> Bool {
        var matches = false
        return mosquitto_topic_matches_sub(filter, topic, &matches) == MOSQ_ERR_SUCCESS.rawValue && matches
    }
}
