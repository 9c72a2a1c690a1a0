import KernelScanning
import Scanning

/// Where bluetoothd refuses the advertisement, the kernel advertises, and bluetoothd pairs.
extension BlueZEnrolment {
    /// - Parameter reason: Why bluetoothd refuses.
    func advertiseByKernel(because reason: String) {
        guard let index = objects.adapters[adapter]?.index else { return run.handle(.failed(reason)) }
        let advertisement: KernelAdvertisement
        do throws(ScannerError) {
            advertisement = KernelAdvertisement(index, host: host, channel: try openKernel())
        } catch {
            return run.handle(.failed("\(reason); the kernel cannot be asked instead: \(error)"))
        }
        kernelAdvertisement = advertisement
        advertisement.onLost = { [weak self] in self?.run.handle(.failed("another program has ended the advertisement"))
        }
        advertisement.begin(appearance) { [weak self] instance in
            guard let self, run.course.state == .preparing else { return false }
            run.record.advertisements.append(AdapterAdvertisement(adapter: index, instance: instance))
            run.save()
            return run.course.state == .preparing
        } done: { [weak self] refusal in
            guard let self, run.course.state == .preparing else { return }
            if let refusal { return run.handle(.failed("\(reason); \(refusal)")) }
            run.say(.advertisedByKernel(reason))
            run.handle(.advertised)
        }
    }

    /// Ends what a killed enrolment may have on the air still. Whatever the kernel answers, it ends it by itself soon.
    func endLeftAdvertisements(_ then: @escaping () -> Void) {
        guard let left = run.record.advertisements.first else { return then() }
        run.record.advertisements.removeFirst()
        guard let channel = try? openKernel() else { return endLeftAdvertisements(then) }
        let advertisement = KernelAdvertisement(left.adapter, host: host, channel: channel)
        kernelAdvertisement = advertisement
        advertisement.remove(left.instance) { [weak self] _ in
            guard let self, run.course.state == .preparing else { return }
            kernelAdvertisement = nil
            endLeftAdvertisements(then)
        }
    }
}
