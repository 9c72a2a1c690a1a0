/// A message to post.
package struct HTTPPost: Equatable, Sendable {
    /// The owner's number of the message.
    package var token: Int64
    /// What the message is called in the log: its topic.
    package var name: String
    package var body: [UInt8]
    package var sender: HTTPSender

    package init(token: Int64, name: String = "", body: [UInt8], sender: HTTPSender) {
        self.name = name
        self.token = token
        self.body = body
        self.sender = sender
    }
}
