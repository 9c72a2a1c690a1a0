/// The parts of the second connection.
enum SidePartName: Int64, CaseIterable {
    case availability, homeAssistant, readingFeed, phones, proxies
}
