package import KernelScanning

/// What an enrolment without bluetoothd has changed at an adapter.
package struct AdapterChange: Hashable, Sendable {
    package let adapter: UInt16
    /// What was switched on.
    package var settings: ControllerSettings
    /// The number of its advertisement.
    package let instance: UInt8

    package init(adapter: UInt16, settings: ControllerSettings, instance: UInt8) {
        (self.adapter, self.settings, self.instance) = (adapter, settings, instance)
    }
}
