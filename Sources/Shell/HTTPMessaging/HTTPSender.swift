/// The identity that posts a message.
package struct HTTPSender: Equatable, Sendable {
    /// `X-Limit-U`
    package var user: String
    /// `X-Limit-D`
    package var device: String

    package init(user: String, device: String) {
        self.user = user
        self.device = device
    }
}
