package import JSON

/// `_type: dump`: the settings in force, without secrets. Topic `/dump`, only when asked.
package struct Dump: Hashable, Sendable {
    /// As `Configuration.shown` gives it.
    package var configuration: JSONValue

    package init(configuration: JSONValue) { self.configuration = configuration }

    package var payload: JSONValue { ["_type": "dump", "configuration": configuration] }
}
