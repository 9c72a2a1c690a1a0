package import JSON

/// `_type: status`: the state of the device. Topic `/status`, only on request, because Home Assistant logs a warning
/// for each.
package struct Status: Hashable, Sendable {
    /// The gateway's description of itself. Phones have a member `iOS` or `android` instead.
    package var gateway: [String: JSONValue]

    package init(gateway: [String: JSONValue]) { self.gateway = gateway }

    package var payload: JSONValue { ["_type": "status", "gateway": .object(gateway)] }
}
