import Base
import Beacon
import Gateway
import Health
import PageServer
import Status

extension StatusSnapshot {
    /// The snapshot for Prometheus. Beacons are counted, not listed: every passing beacon would add a series, and the
    /// load of a Prometheus server grows with its series.
    func metrics(_ clients: ClientCounters) -> String {
        var writer = MetricsWriter()
        writeGateway(&writer)
        writeAdapters(&writer)
        writeMessages(&writer)
        writeRegions(&writer)
        if !proxies.isEmpty { writeProxies(&writer) }
        if let ownBeacon {
            writer.single(
                "ibeacon_gateway_own_beacon_sent", .gauge,
                "1 while the beacon is sent that the site asks this gateway for, 0 while it is not.",
                ownBeacon.interval == nil ? 0 : 1)
        }
        if let process {
            writer.process(process, startedAt: wallClock.isKnown ? wallClock.epochSeconds(at: startedAt) : nil)
        }
        writer.clients(clients, of: "ibeacon_gateway")
        return writer.text
    }

    private func writeGateway(_ writer: inout MetricsWriter) {
        writer.family(
            "ibeacon_gateway_info", .gauge, "Always 1; the version and the scanner are in the labels.",
            [([("version", version), ("device", device), ("scanner", scanner.name)], 1)])
        writer.single(
            "ibeacon_gateway_uptime_seconds", .gauge, "Time since the gateway started.",
            startedAt.duration(to: now).inSeconds)
        writer.single(
            "ibeacon_gateway_clock_synchronized", .gauge, "1 if the time of day is known.", wallClock.isKnown ? 1 : 0)
        writer.single(
            "ibeacon_gateway_sightings_total", .counter, "iBeacon frames heard.", Double(counters.sightings))
        writer.single(
            "ibeacon_gateway_sightings_dropped_total", .counter,
            "iBeacon frames of regions, dropped because too many beacons were near.", Double(overflow.sightings))
        writer.single(
            "ibeacon_gateway_battery_readings_total", .counter, "Batteries read, of beacons that belong to a region.",
            Double(counters.telemetry))
        writer.single(
            "ibeacon_gateway_low_batteries", .gauge, "Beacons whose battery is low.", Double(lowBatteries.count))
        writer.family(
            "ibeacon_gateway_transitions_total", .counter, "Transitions decided.",
            [([("event", "enter")], Double(counters.enters)), ([("event", "leave")], Double(counters.leaves))])
        writer.family(
            "ibeacon_gateway_leaves_total", .counter, "Leaves decided, by reason; position: of a circle.",
            counters.namedLeaves.map { ([("reason", $0.reason)], Double($0.count)) })
        writer.commands(counters.commands, of: "ibeacon_gateway")
        writer.single(
            "ibeacon_gateway_waypoints_refused_total", .counter, "Regions that could not be used.",
            Double(counters.waypointsRefused))
        writer.family(
            "ibeacon_gateway_malformed_data_total", .counter, "Malformed advertising data, by kind of error.",
            MalformedKind.allCases.map { ([("kind", $0.name)], Double(malformed[$0])) })
        writer.single(
            "ibeacon_gateway_beacons", .gauge, "Different beacons heard in the last five minutes.",
            Double(beacons.count))
        writer.family(
            "ibeacon_gateway_findings", .gauge, "Findings of the health check, by level.",
            Finding.Level.allCases.map { level in
                ([("level", level.rawValue)], Double(findings.count { $0.level == level }))
            })
    }

    private func writeAdapters(_ writer: inout MetricsWriter) {
        func each(_ value: (Adapter) -> Double?) -> [(labels: [(String, String)], value: Double)] {
            scanner.adapters.compactMap { adapter in value(adapter).map { ([("adapter", adapter.name)], $0) } }
        }
        writer.family(
            "ibeacon_gateway_adapter_listening", .gauge, "1 while the adapter scans.", each { $0.isListening ? 1 : 0 })
        let counts: [(name: String, help: String, count: KeyPath<Adapter, UInt64>)] = [
            ("advertising_reports", "Advertising reports received.", \.reports),
            ("malformed_reports", "Advertising reports that were malformed.", \.malformed),
            ("lost_reports", "Advertising reports known to have been lost.", \.lost),
            ("scan_restarts", "Restarts of scanning.", \.restarts),
            ("controller_resets", "Resets of the controller.", \.resets),
        ]
        for (name, help, count) in counts {
            writer.family("ibeacon_gateway_\(name)_total", .counter, help, each { Double($0[keyPath: count]) })
        }
        writer.family(
            "ibeacon_gateway_scan_duty_ratio", .gauge, "Share of the time in which the radio listens.",
            each(\.duty))
        writer.family(
            "ibeacon_gateway_adapter_silence_seconds", .gauge, "Time since the adapter heard anything.",
            each { $0.lastHeard.map { $0.duration(to: now).inSeconds } })
    }

    private func writeProxies(_ writer: inout MetricsWriter) {
        func each(_ value: (ProxyState) -> Double) -> [(labels: [(String, String)], value: Double)] {
            proxies.map { ([("adapter", $0.adapter)], value($0)) }
        }
        writer.family(
            "ibeacon_gateway_proxy_clients", .gauge, "Clients that the Bluetooth proxy serves.",
            each { Double($0.clients.count(where: \.isSubscribed)) })
        let counts: [(name: String, help: String, count: KeyPath<ProxyState, UInt64>)] = [
            ("proxy_packets", "Packets that clients of the Bluetooth proxy got, once for each client.", \.sent),
            ("proxy_dropped_packets", "Packets that clients of the Bluetooth proxy were too slow for.", \.dropped),
            ("proxy_lost_packets", "Packets for the Bluetooth proxy that were not read in time.", \.lost),
            ("proxy_refused_subscriptions", "Subscriptions that the Bluetooth proxy refused.", \.refused),
            ("proxy_failed_connections", "Connections to the Bluetooth proxy without the key, or too many.", \.failed),
        ]
        for (name, help, count) in counts {
            writer.family("ibeacon_gateway_\(name)_total", .counter, help, each { Double($0[keyPath: count]) })
        }
    }

    private func writeMessages(_ writer: inout MetricsWriter) {
        writer.family(
            "ibeacon_gateway_broker_connected", .gauge, "1 while the broker is connected.",
            brokers.enumerated().map { index, broker in
                ([("connection", "\(index)"), ("broker", broker.name)], broker.phase == .connected ? 1 : 0)
            })
        writer.family(
            "ibeacon_gateway_refusals_total", .counter,
            "What brokers and servers refused, by connection and kind.", brokerRefusals.labelledTotals)
        writer.single(
            "ibeacon_gateway_queue_messages", .gauge, "Messages that wait for the broker.", Double(queue.pending))
        writer.single(
            "ibeacon_gateway_queue_set_aside_messages", .gauge, "Messages that the broker refused.",
            Double(queue.refused))
        writer.single(
            "ibeacon_gateway_queue_dropped_messages_total", .counter, "Messages dropped because the queue was full.",
            Double(queue.dropped))
        writer.single(
            "ibeacon_gateway_incoming_messages_dropped_total", .counter,
            "Messages from the broker that were too large or too many at once.", Double(overflow.incoming))
        writer.single(
            "ibeacon_gateway_messages_sent_total", .counter, "Messages that the broker acknowledged.",
            Double(queue.sent))
        writer.single(
            "ibeacon_gateway_store_ok", .gauge, "1 while the database can be written.", store.problem == nil ? 1 : 0)
        writer.single(
            "ibeacon_gateway_store_writes_total", .counter, "Transactions written to the database.",
            Double(store.writes))
    }

    private func writeRegions(_ writer: inout MetricsWriter) {
        var inside: [(labels: [(String, String)], value: Double)] = []
        var signal: [(labels: [(String, String)], value: Double)] = []
        var battery: [(labels: [(String, String)], value: Double)] = []
        for tracker in trackers {
            for region in tracker.regions.prefix(Self.listedRegions) {
                // The rid keeps the labels distinct if names are equal or were cut.
                let labels = [("tracker", tracker.topic), ("rid", region.rid), ("region", region.name)]
                inside.append((labels, region.isInside ? 1 : 0))
                if let rssi = region.rssi, region.isInside { signal.append((labels, Double(rssi.dBm))) }
                if let state = region.battery { battery.append((labels, Double(state.battery.percent) / 100)) }
            }
        }
        writer.family("ibeacon_gateway_region_inside", .gauge, "1 while a beacon is in the region.", inside)
        writer.family(
            "ibeacon_gateway_region_rssi_dbm", .gauge, "Signal of the region's strongest beacon in dBm.", signal)
        writer.family(
            "ibeacon_gateway_region_battery_ratio", .gauge,
            "Battery of the region's beacon at the last reading, 0 to 1.", battery)
    }
}
