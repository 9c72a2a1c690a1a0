import CFaultVFS
import Foundation

/// A file layer of the test's own that breaks on command.
///
/// Unchecked: the C side keeps its state in atomics, and what is not atomic is touched by the one
/// connection that uses the layer.
final class FaultySQLite: @unchecked Sendable {
    enum Fault: Int32 {
        case none = 0
        case diskFull = 1
        case ioError = 2
        case readOnly = 3
        case syncFails = 4
    }

    let name = "fault-\(UUID().uuidString)"
    private let vfs: OpaquePointer

    init() { vfs = fault_vfs_register(name) }

    deinit { fault_vfs_unregister(vfs) }

    func set(_ fault: Fault) { fault_vfs_set_fault(vfs, fault.rawValue) }
    /// The byte at this offset of this file cannot be read, whatever name the file gets. nil: all can be.
    func setBadSector(_ path: String?, at offset: Int64 = 0) { fault_vfs_set_bad_sector(vfs, path, offset) }
    /// Syncs do not return before they are released, which happens by itself after half a minute.
    func holdSyncs() { fault_vfs_hold_syncs(vfs, 1) }
    func releaseSyncs() { fault_vfs_hold_syncs(vfs, 0) }
    /// Whether a sync does not return at this moment.
    var isHolding: Bool { fault_vfs_held(vfs) > 0 }
    func cutPower(atOperation operation: UInt64, seed: UInt32) { fault_vfs_cut_power_at(vfs, operation, seed) }

    var isDead: Bool { fault_vfs_is_dead(vfs) != 0 }
    var operations: UInt64 { fault_vfs_operations(vfs) }
    var syncs: UInt64 { fault_vfs_syncs(vfs) }
    var bytesWritten: UInt64 { fault_vfs_bytes_written(vfs) }
}
