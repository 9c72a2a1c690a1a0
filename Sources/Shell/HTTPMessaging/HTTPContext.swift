/// What the posting thread works with.
struct HTTPContext<Event: Sendable>: Sendable {
    let settings: HTTPSettings
    let sender: HTTPSender
    let translate: @Sendable (HTTPEvent) -> Event
    let read: HTTPAnswerReading<Event>
}
