package import JSON

/// `_type: encrypted`: any other message, encrypted. Only the owner of the key can read it.
package struct EncryptedMessage: Hashable, Sendable {
    /// Nonce and box, base64.
    package var data: String

    package init(data: String) { self.data = data }

    /// - Returns: nil if this is not such a message. Without `data` the result has empty data, which cannot be decrypted.
    package init?(_ json: JSONValue) {
        guard json["_type"] == "encrypted" else { return nil }
        data = json["data"]?.string ?? ""
    }

    package var payload: JSONValue { ["_type": "encrypted", "data": .string(data)] }
}
