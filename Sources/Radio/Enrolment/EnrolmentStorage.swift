package import Beacon

/// The files of an enrolment.
package protocol EnrolmentStorage: AnyObject {
    /// The record of an earlier enrolment, empty if there is none.
    func readRecord() -> EnrolmentRecord
    /// Replaces the record. An empty one is removed.
    ///
    /// - Returns: Why it was not written, or nil.
    func write(_ record: EnrolmentRecord) -> String?
    /// The content of bluetoothd's file `info` about a device, nil if there is none.
    ///
    /// - Parameters:
    ///   - adapter: The adapter's address.
    ///   - device: The device's identity address.
    func bond(adapter: DeviceAddress, device: DeviceAddress) -> [UInt8]?
}
