import Base

/// The Home Assistants that have adopted the proxy, and when they are dialled. Home Assistant itself tries again after up to a minute.
struct ProxyHomes {
    static let most = 4
    /// From one dial of a Home Assistant that is away to the next.
    static let pause: Duration = .seconds(10)
    /// The same just after its birth message or our own start: its port may open a little later.
    static let shortPause: Duration = .milliseconds(500)
    /// The time after these in which the pause is short.
    static let hurry: Duration = .seconds(15)

    private struct Home {
        let address: String
        /// nil while it is connected, or while it is dialled.
        var nextDial: MonotonicInstant?
        var isDialling = false
    }

    private var homes: [Home] = []
    private var hurriedUntil = MonotonicInstant.zero

    var addresses: [String] { homes.map(\.address) }
    /// When a Home Assistant is dialled next.
    var nextDeadline: MonotonicInstant? { homes.compactMap(\.nextDial).min() }

    /// The proxy has just started.
    mutating func restore(_ addresses: [String], at now: MonotonicInstant) {
        for address in addresses where !self.addresses.contains(address) && homes.count < Self.most {
            homes.append(Home(address: address, nextDial: now))
        }
        hurriedUntil = now.advanced(by: Self.hurry)
    }

    /// A client that knows the key asks to be dialled. It takes the place of those that are away: most often it is one of them, with
    /// another address. One that is forgotten so connects by itself, later.
    ///
    /// - Returns: Whether its address is new.
    mutating func adopt(_ address: String, isConnected: (String) -> Bool) -> Bool {
        guard !addresses.contains(address) else { return false }
        homes.removeAll { !isConnected($0.address) }
        if homes.count >= Self.most { homes.removeFirst() }
        homes.append(Home(address: address))
        return true
    }

    /// - Returns: Whether it was known.
    mutating func forget(_ address: String) -> Bool {
        let count = homes.count
        homes.removeAll { $0.address == address }
        return homes.count < count
    }

    mutating func connected(_ address: String) { change(address) { ($0.nextDial, $0.isDialling) = (nil, false) } }

    /// Its last connection ended, or it was not reached.
    mutating func away(_ address: String, at now: MonotonicInstant) {
        let next = now.advanced(by: now < hurriedUntil ? Self.shortPause : Self.pause)
        change(address) { ($0.nextDial, $0.isDialling) = (next, false) }
    }

    /// One of them has just started, and no message says which.
    mutating func started(at now: MonotonicInstant, isConnected: (String) -> Bool) {
        hurriedUntil = now.advanced(by: Self.hurry)
        for index in homes.indices where !homes[index].isDialling && !isConnected(homes[index].address) {
            homes[index].nextDial = now
        }
    }

    /// - Returns: The addresses to dial now.
    mutating func due(at now: MonotonicInstant) -> [String] {
        var due: [String] = []
        for index in homes.indices {
            guard let next = homes[index].nextDial, next <= now else { continue }
            (homes[index].nextDial, homes[index].isDialling) = (nil, true)
            due.append(homes[index].address)
        }
        return due
    }

    private mutating func change(_ address: String, _ change: (inout Home) -> Void) {
        guard let index = homes.firstIndex(where: { $0.address == address }) else { return }
        change(&homes[index])
    }
}
