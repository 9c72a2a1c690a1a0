package import Base
package import Beacon
package import KernelScanning
import Scanning

/// The beacon that a gateway sends: which adapter sends it, what the kernel is told, and what is claimed of it. It is a value without a
/// clock or a socket. At any moment at most one command waits for its answer.
///
/// A controller with advertising sets gets one set with an interval of a second, which lasts until it is removed. Without sets the
/// kernel sends each advertisement every 100 to 150 ms, whatever is asked. There the beacon is on the air for a part of each minute
/// (`BurstOfMinute`). The kernel ends such a burst by itself, also when this program was killed.
///
/// Numbers of advertisements have no owner in the kernel. Other programs, such as bluetoothd, take the lowest; so this takes the
/// highest that is free, and removes only what it has added itself, perhaps in an earlier run (`left`).
package struct BeaconAdvertisement: Sendable {
    package typealias Effect = AdvertisingEffect
    private typealias Step = AdvertisingStep

    /// What is on the air.
    private struct Held: Hashable {
        let adapter: UInt16
        let instance: UInt8
        let beacon: BeaconID
        /// When a burst must have ended by itself; nil: it lasts.
        let end: MonotonicInstant?
    }

    package static let interval = Duration.seconds(1)
    private static let retryPeriod = Duration.seconds(60)
    /// For the kernel to answer.
    private static let answerTimeout = Duration.seconds(10)
    /// Time for a program that clears all advertisements (bluetoothd when it starts) to finish.
    private static let pauseBeforeReturn = Duration.milliseconds(200)
    /// From the command that pauses the scan until the controller has ended it, and between two looks whether it has.
    private static let pauseOfScan = Duration.milliseconds(20)
    private static let mostTries = 5
    private static let busyPause = Duration.seconds(1)
    private static let mostBusy = 3
    /// How long there may be no adapter before that is a refusal: at the start, and while one is switched off and on.
    private static let patience = Duration.seconds(5)

    private var wanted: BeaconID?
    private var adapters = AdvertisingAdapters()
    private var step = Step.idle
    private var stepEnd = MonotonicInstant.zero
    private var held: Held?
    /// Which beacon the step under way is for.
    private var asked: BeaconID?
    /// What an earlier run may have left.
    private var left: [AdvertisementPlace] = []
    /// Nothing new is begun before.
    private var notBefore = MonotonicInstant.zero
    /// Since when no adapter is ready.
    private var alone: MonotonicInstant?
    /// Until when the adapter of what an earlier run has left is waited for.
    private var leftEnd = MonotonicInstant.zero
    /// Whether the adapters are asked again after a refusal.
    private var isRetrying = false
    package private(set) var state = SendingState.off

    package init() {}

    /// Whether nothing is wanted, on the air or under way.
    package var isAtRest: Bool { wanted == nil && held == nil && step == .idle && left.isEmpty }

    /// What would be left on the air if the program was killed now. A burst ends by itself.
    package var places: [AdvertisementPlace] {
        var places = left
        func add(_ index: UInt16, _ instance: UInt8) {
            if let adapter = adapters[index] { places.append(.init(adapter: adapter.address, instance: instance)) }
        }
        if let held, held.end == nil { add(held.adapter, held.instance) }
        switch step {
        case .settingParameters(let index, let instance), .settingData(let index, let instance): add(index, instance)
        default: break
        }
        return places
    }

    /// When `tick` is due although nothing happens; nil: never.
    package var nextDeadline: MonotonicInstant? {
        if step != .idle { return stepEnd }
        guard wanted != nil else { return left.isEmpty ? held?.end : leftEnd }
        if let end = held?.end { return end }
        if let alone, !adapters.hasReady, !isRefused { return alone.advanced(by: Self.patience) }
        return held == nil && adapters.hasReady ? notBefore : nil
    }

    private var isRefused: Bool { if case .refused = state { true } else { false } }

    // MARK: What is wanted

    /// - Parameter beacon: nil: none is sent any longer.
    package mutating func want(_ beacon: BeaconID?, at now: MonotonicInstant) -> [Effect] {
        guard beacon != wanted else { return [] }
        wanted = beacon
        state = beacon == nil ? .off : .asked
        (notBefore, isRetrying) = (now, false)
        if !adapters.hasReady { alone = now }
        adapters.forgive()
        return proceed(at: now)
    }

    /// What an earlier run has added and not removed.
    package mutating func found(_ places: [AdvertisementPlace], at now: MonotonicInstant) -> [Effect] {
        left = places
        leftEnd = now.advanced(by: Self.patience)
        return proceed(at: now)
    }

    /// The program ends. The answers are not waited for.
    package mutating func end() -> [Effect] {
        var effects: [Effect] = []
        switch step {
        case .settingParameters(let index, let instance), .settingData(let index, let instance),
            .adding(let index, let instance, _):
            effects.append(.send(.removeAdvertising(index, instance: instance)))
        default: break
        }
        if let index = step.adapter, isPausing { effects.append(.pauseScan(index, false)) }
        if let held { effects.append(.send(.removeAdvertising(held.adapter, instance: held.instance))) }
        (wanted, held, step, left, state) = (nil, nil, .idle, [], .off)
        return effects
    }

    // MARK: Adapters

    /// An adapter is there, or its settings have changed.
    package mutating func adapter(
        _ index: UInt16, _ address: DeviceAddress, _ settings: ControllerSettings, at now: MonotonicInstant
    ) -> [Effect] {
        if adapters[index]?.address != address { adapters[index] = .init(address: address, settings: settings) }
        adapters[index]?.settings = settings
        return adapterChanged(index, at: now)
    }

    package mutating func settings(
        _ settings: ControllerSettings, of index: UInt16, at now: MonotonicInstant
    ) -> [Effect] {
        guard let before = adapters[index]?.settings else { return [] }
        adapters[index]?.settings = settings
        guard before != settings else { return [] }
        return adapterChanged(index, at: now)
    }

    package mutating func adapterGone(_ index: UInt16, at now: MonotonicInstant) -> [Effect] {
        guard let adapter = adapters.remove(index) else { return [] }
        left.removeAll { $0.adapter == adapter.address }
        // The kernel may not answer what it was asked of it.
        if step.adapter == index { step = .idle }
        return lost(index, at: now)
    }

    private mutating func adapterChanged(_ index: UInt16, at now: MonotonicInstant) -> [Effect] {
        guard let adapter = adapters[index] else { return [] }
        adapters[index]?.forgive()
        guard adapter.isReady else { return lost(index, at: now) }
        alone = nil
        if isRefused { notBefore = now }
        return proceed(at: now)
    }

    /// What an adapter sent has ended with its power.
    private mutating func lost(_ index: UInt16, at now: MonotonicInstant) -> [Effect] {
        if held?.adapter == index { held = nil }
        if case .sends(index, _, _) = state {
            state = .asked
            notBefore = now
        }
        if !adapters.hasReady { alone = alone ?? now }
        return proceed(at: now)
    }

    // MARK: Answers of the kernel

    /// Time has passed.
    package mutating func tick(at now: MonotonicInstant) -> [Effect] {
        if case .pausing(let index, let instance, let tries) = step, now >= stepEnd, let asked {
            return [add(asked, index, instance, tries: tries, at: now)]
        }
        if let index = step.adapter, now >= stepEnd {
            let effects = isPausing ? [Effect.pauseScan(index, false)] : []
            step = .idle
            return effects + refuse(index, "the kernel does not answer", at: now)
        }
        if let end = held?.end, now >= end { held = nil }
        // Without power a controller has forgotten it.
        if now >= leftEnd { left = [] }
        if wanted != nil, let alone, alone.duration(to: now) >= Self.patience, !adapters.hasReady {
            state = .refused(
                ScanProblem("no adapter is there that could send it, or none is on", remedy: "rfkill list; doctor"))
        }
        return proceed(at: now)
    }

    /// - Parameter result: What follows the status.
    package mutating func answered(
        _ opcode: ManagementCommand.Opcode, by index: UInt16, status: UInt8, _ result: [UInt8],
        at now: MonotonicInstant
    ) -> [Effect] {
        guard step.adapter == index, step.opcode == opcode else { return [] }
        let answered = step
        step = .idle
        switch answered {
        case .removing(_, let instance): return removed(index, instance, status: status, at: now)
        case .reading: return read(index, status: status, result, at: now)
        case .settingParameters(_, let instance):
            guard status == ManagementStatus.success else { return refuse(index, opcode, status: status, at: now) }
            return set(index, instance, at: now)
        case .settingData(_, let instance):
            guard status == ManagementStatus.success else { return refuse(index, opcode, status: status, at: now) }
            return sends(index, instance, nil, at: now)
        case .adding(_, let instance, let tries):
            return added(index, instance, tries: tries, status: status, at: now)
        case .idle, .pausing: return []
        }
    }

    /// Another program, or the kernel, has removed an advertisement.
    package mutating func removed(_ index: UInt16, instance: UInt8, at now: MonotonicInstant) -> [Effect] {
        guard let held, held.adapter == index, held.instance == instance else { return [] }
        self.held = nil
        guard held.end == nil else { return proceed(at: now) }
        if wanted != nil { state = .asked }
        notBefore = now.advanced(by: Self.pauseBeforeReturn)
        return proceed(at: now)
    }

    private mutating func removed(
        _ index: UInt16, _ instance: UInt8, status: UInt8, at now: MonotonicInstant
    ) -> [Effect] {
        // Invalid parameters: there is none, or none any more. What else is refused, such as for an adapter that was just switched
        // off, is left to the kernel; a later run tries again.
        if held?.adapter == index, held?.instance == instance { held = nil }
        if let address = adapters[index]?.address {
            left.removeAll { $0 == AdvertisementPlace(adapter: address, instance: instance) }
        }
        return proceed(at: now)
    }

    private mutating func read(
        _ index: UInt16, status: UInt8, _ result: [UInt8], at now: MonotonicInstant
    ) -> [Effect] {
        guard status == ManagementStatus.success, let features = AdvertisingFeatures(result) else {
            return refuse(index, .readAdvertisingFeatures, status: status, at: now)
        }
        adapters[index]?.hasSets = features.hasSets
        guard let wanted, adapters.next == index, let adapter = adapters[index] else { return proceed(at: now) }
        guard !adapter.settings.contains(.advertising) else {
            return refuse(
                index, "another program has the kernel's own advertising switched on, which lets no other one through",
                at: now)
        }
        guard features.hasSets || features.used.isEmpty else {
            return refuse(
                index, "another program advertises, and the controller has no advertising sets for two", at: now)
        }
        guard let instance = features.free.last else {
            return refuse(index, "it cannot advertise, or has no room for another advertisement", at: now)
        }
        asked = wanted
        guard !features.hasSets else {
            begin(.settingParameters(index, instance), at: now)
            let command = ManagementCommand.addAdvertisingParameters(index, instance: instance, interval: Self.interval)
            return [.send(command)]
        }
        return adapter.pausesScan
            ? pause(index, instance, tries: 0, at: now) : [add(wanted, index, instance, tries: 0, at: now)]
    }

    private mutating func set(_ index: UInt16, _ instance: UInt8, at now: MonotonicInstant) -> [Effect] {
        guard let asked else { return [] }
        begin(.settingData(index, instance), at: now)
        return [.send(.addAdvertisingData(index, instance: instance, asked.advertisingData))]
    }

    private mutating func add(
        _ beacon: BeaconID, _ index: UInt16, _ instance: UInt8, tries: Int, at now: MonotonicInstant
    ) -> Effect {
        begin(.adding(index, instance, tries: tries), at: now)
        let seconds = UInt16(clamping: burst(of: index).duration.components.seconds)
        return .send(.addAdvertising(index, instance: instance, beacon.advertisingData, seconds: seconds))
    }

    private mutating func pause(
        _ index: UInt16, _ instance: UInt8, tries: Int, at now: MonotonicInstant
    ) -> [Effect] {
        step = .pausing(index, instance, tries: tries + 1)
        stepEnd = now.advanced(by: Self.pauseOfScan)
        // Each time: whoever scans may have begun again meanwhile.
        return [.pauseScan(index, true)]
    }

    private mutating func added(
        _ index: UInt16, _ instance: UInt8, tries: Int, status: UInt8, at now: MonotonicInstant
    ) -> [Effect] {
        // A controller refuses to set an address while it scans, as the specification demands (Vol 4, Part E, 7.8.4). Linux 6.1 makes
        // `failed` of that, later ones make `busy` of it.
        if [ManagementStatus.busy, ManagementStatus.failed].contains(status), tries < Self.mostTries {
            adapters[index]?.pausesScan = true
            return pause(index, instance, tries: tries, at: now)
        }
        let goesOn = tries > 0 ? [Effect.pauseScan(index, false)] : []
        guard status == ManagementStatus.success else {
            return goesOn + refuse(index, .addAdvertising, status: status, at: now)
        }
        notBefore = now.advanced(by: BurstOfMinute.period)
        return goesOn + sends(index, instance, burst(of: index), at: now)
    }

    private mutating func sends(
        _ index: UInt16, _ instance: UInt8, _ burst: BurstOfMinute?, at now: MonotonicInstant
    ) -> [Effect] {
        guard let asked else { return [] }
        held = Held(
            adapter: index, instance: instance, beacon: asked,
            end: burst.map { now.advanced(by: $0.longest) })
        adapters[index]?.busy = 0
        isRetrying = false
        if wanted == asked {
            state = .sends(adapter: index, interval: burst?.interval ?? Self.interval, burst: burst?.duration)
        }
        return proceed(at: now)
    }

    private func burst(of index: UInt16) -> BurstOfMinute {
        BurstOfMinute(isConnectable: adapters[index]?.settings.contains(.connectable) == true)
    }

    // MARK: What is next

    private var isPausing: Bool {
        switch step {
        case .pausing: true
        case .adding(_, _, let tries): tries > 0
        default: false
        }
    }

    private mutating func begin(_ next: Step, at now: MonotonicInstant) {
        step = next
        stepEnd = now.advanced(by: Self.answerTimeout)
    }

    private mutating func proceed(at now: MonotonicInstant) -> [Effect] {
        guard step == .idle else { return [] }
        if let (index, instance) = unwanted {
            begin(.removing(index, instance), at: now)
            return [.send(.removeAdvertising(index, instance: instance))]
        }
        guard wanted != nil, held == nil, now >= notBefore else { return [] }
        if isRefused, !isRetrying {
            isRetrying = true
            adapters.retry()
        }
        guard let index = adapters.next else { return [] }
        begin(.reading(index), at: now)
        return [.send(.readAdvertisingFeatures(index))]
    }

    /// What is on the air and is not wanted.
    private var unwanted: (UInt16, UInt8)? {
        if let held, held.beacon != wanted { return (held.adapter, held.instance) }
        for place in left {
            if let index = adapters.ready(place.adapter) { return (index, place.instance) }
        }
        return nil
    }

    // MARK: Refusals

    private mutating func refuse(
        _ index: UInt16, _ opcode: ManagementCommand.Opcode, status: UInt8, at now: MonotonicInstant
    ) -> [Effect] {
        let busy = adapters[index]?.busy ?? 0
        let mayPass = status == ManagementStatus.busy || opcode == .addAdvertising && status == ManagementStatus.failed
        if mayPass, busy < Self.mostBusy {
            adapters[index]?.busy = busy + 1
            notBefore = now.advanced(by: Self.busyPause)
            return []
        }
        let remedy = status == ManagementStatus.permissionDenied ? Capability.netAdmin.remedy : nil
        return refuse(index, ManagementStatus.refusal(of: opcode, status), remedy: remedy, at: now)
    }

    private mutating func refuse(
        _ index: UInt16, _ reason: String, remedy: String? = nil, at now: MonotonicInstant
    ) -> [Effect] {
        let problem = ScanProblem(
            "hci\(index) does not send it: \(reason)",
            remedy: remedy ?? "it is tried again every minute; journalctl -k | grep -i bluetooth shows more")
        adapters[index]?.refusal = problem
        guard adapters.chosen == nil, wanted != nil else { return proceed(at: now) }
        state = .refused(adapters.refusal ?? problem)
        isRetrying = false
        notBefore = now.advanced(by: Self.retryPeriod)
        return []
    }
}
