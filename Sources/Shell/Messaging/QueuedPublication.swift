import Base

/// A publication that waits for the broker, with its owner's number.
struct QueuedPublication: Hashable, Sendable {
    let token: MessageToken
    let publication: Publication
    var refusals = Refusals()
}
