/// The columns of a region, common to the tables `region` and `region_edit`, so that a person can read them.
protocol RegionColumn: ResultColumn {
    static var tracker: Self { get }
    static var rid: Self { get }
    static var name: Self { get }
    static var uuid: Self { get }
    static var major: Self { get }
    static var minor: Self { get }
    static var tst: Self { get }
    static var lat: Self { get }
    static var lon: Self { get }
    static var rad: Self { get }
    static var leaveAfter: Self { get }
    static var enterRSSI: Self { get }
    static var leaveRSSI: Self { get }
    static var extensionMembers: Self { get }
}
