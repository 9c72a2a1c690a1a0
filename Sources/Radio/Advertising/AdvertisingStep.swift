import KernelScanning

/// Where `BeaconAdvertisement` is on its way to an advertisement, with the adapter's number and that of the advertisement.
enum AdvertisingStep: Hashable {
    case idle
    case removing(UInt16, UInt8)
    case reading(UInt16)
    case settingParameters(UInt16, UInt8)
    case settingData(UInt16, UInt8)
    case adding(UInt16, UInt8, tries: Int)
    /// The scan of the adapter is about to pause.
    case pausing(UInt16, UInt8, tries: Int)

    var adapter: UInt16? {
        switch self {
        case .idle: nil
        case .reading(let index): index
        case .removing(let index, _), .settingParameters(let index, _), .settingData(let index, _): index
        case .adding(let index, _, _), .pausing(let index, _, _): index
        }
    }

    /// The command whose answer is waited for.
    var opcode: ManagementCommand.Opcode? {
        switch self {
        case .idle, .pausing: nil
        case .removing: .removeAdvertising
        case .reading: .readAdvertisingFeatures
        case .settingParameters: .addExtendedAdvertisingParameters
        case .settingData: .addExtendedAdvertisingData
        case .adding: .addAdvertising
        }
    }
}
