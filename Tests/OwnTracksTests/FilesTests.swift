import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

/// Files as phones export them and as this gateway does.
@Suite struct Files {
    @Test("The waypoints file of the iOS manual loads (iOS waypoints page, quotes mended)")
    func manualWaypoints() throws {
        let text = """
            {"_type": "waypoints", "waypoints": [
              {"desc": "fifty/eight", "rad": "100", "lon": "8.0", "lat": "50.0", "tst": "100000000", "_type": "waypoint"},
              {"desc": "forty/minus-eight", "rad": "500", "lon": "-8.0", "lat": "40.0", "tst": "100000001",
               "_type": "waypoint"}]}
            """
        let set = RegionSet.reading(try WaypointsReading(JSONValue(parsing: text)))
        #expect(set.regions.map(\.description.name) == ["fifty/eight", "forty/minus-eight"])
        #expect(set.regions.map(\.radius) == [100, 500])
        #expect(set.regions.map(\.rid).allSatisfy { $0.utf8.count == 6 })
    }

    @Test("The waypoints file of the iOS manual, loaded twice, gives its regions once")
    func twice() throws {
        let text =
            #"{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"fifty/eight","rad":"100","tst":"100000000"}]}"#
        var set = RegionSet()
        for _ in 1...2 { set.apply(try WaypointsReading(JSONValue(parsing: text)).changes) }
        #expect(set.regions.count == 1)
    }

    @Test("A waypoint with all members of the documents loads (Regions page)")
    func documentedWaypoint() throws {
        let text = """
            {"_type": "waypoint", "desc": "My favorite coffee shop (Delaville)", "lat": 48.87069, "lon": 2.34916,
             "rad": "50", "tst": "1385997757", "rid": "f7676c", "wtst": 1610104395}
            """
        let set = RegionSet.reading(try WaypointsReading(JSONValue(parsing: text)))
        #expect(set[rid: "f7676c"]?.extensionMembers == #"{"wtst":1610104395}"#)
        #expect(set[rid: "f7676c"]?.creationTimestamp == 1_610_104_395)
    }

    @Test("An .otrw of Android loads: no rid, no rad, an _id, an empty list of tags")
    func androidWaypoints() throws {
        let text = """
            {"_type":"waypoints","_id":"0a1b2c3d","waypoints":[
            {"_type":"waypoint","_id":"ffffffff","desc":"Home","lat":52.0,"lon":6.0,"tst":1600000000},
            {"_type":"waypoint","_id":"fffffffe","desc":"Work","lat":52.1,"lon":6.1,"rad":100,"tst":1600000001}]}
            """
        let set = RegionSet.reading(try WaypointsReading(JSONValue(parsing: text)))
        #expect(set.regions.map(\.kind) == [.plain, .circular])
    }

    /// Every setting that the app for iOS exports, as a phone that uses most of them would.
    static let iOSConfiguration = """
        {"_type":"configuration","mode":0,"deviceId":"phone","tid":"JP","clientId":"janephone","subTopic":"owntracks/+/+",
        "pubTopicBase":"owntracks/%u/%d","host":"broker.example","url":"","httpHeaders":"","encryptionKey":"",
        "username":"jane","password":"secret","willTopic":"","subQos":1,"pubQos":1,"port":8883,"mqttProtocolLevel":4,
        "ignoreStaleLocations":0,"ignoreInaccurateLocations":0,"keepalive":60,"willQos":1,"locatorDisplacement":200,
        "locatorInterval":180,"monitoring":1,"downgrade":0,"adapt":0,"ranging":false,"cmd":true,"sub":true,
        "pubRetain":true,"tls":true,"ws":false,"auth":true,"usePassword":true,"cleanSession":false,"willRetain":false,
        "positions":50,"days":-1,"maxHistory":0,"allowRemoteLocation":true,"remoteConfiguration":false,
        "extendedData":true,"locked":false,"clientpkcs":"","passphrase":"","allowinvalidcerts":false,
        "osmTemplate":"","osmCopyright":"",
        "waypoints":[{"_type":"waypoint","desc":"Home","lat":52,"lon":6,"rad":100,"tst":1600000000,"rid":"abcdef"}]}
        """

    @Test("An .otrc of iOS loads as it is, with a warning of its identity alone")
    func iOS() throws {
        let configuration = try Configuration(parsing: Self.iOSConfiguration.utf8, hostName: "pi")
        #expect(configuration.warnings.map(\.member) == ["clientId"])
        #expect(configuration.trackers[0].topics.base == "owntracks/jane/phone")
        #expect(configuration.broker.port == 8883)
        #expect(configuration.historyDays == -1)
        #expect(configuration.trackers[0].waypoints.changes.count == 1)
    }

    @Test("An .otrc in HTTP mode loads as it is, with a warning of its identity alone (OwnTracks over HTTP)")
    func http() throws {
        let text = """
            {"_type":"configuration","mode":3,"deviceId":"phone","tid":"JP","url":"https://recorder.example/pub",
            "httpHeaders":"","encryptionKey":"","username":"jane","password":"secret","auth":true,"usePassword":true,
            "host":"","port":8883,"tls":true,"ignoreStaleLocations":0,"ignoreInaccurateLocations":0,
            "locatorDisplacement":200,"locatorInterval":180,"monitoring":1,"ranging":false,"cmd":true,"positions":50,
            "days":-1,"maxHistory":0,"allowRemoteLocation":true,"extendedData":true,"locked":false,"waypoints":[]}
            """
        let configuration = try Configuration(parsing: text.utf8, hostName: "pi")
        #expect(configuration.warnings.map(\.member) == ["deviceId"])
        #expect(configuration.broker.endpoint?.url == "https://recorder.example/pub")
        #expect(configuration.broker.login?.user == "jane")
        #expect(!configuration.broker.isOffline)
    }

    @Test("An older .otrc with every value quoted loads the same")
    func quoted() throws {
        let json = try JSONValue(parsing: Self.iOSConfiguration)
        let members = (json.object ?? [:]).mapValues { (value: JSONValue) -> JSONValue in
            switch value {
            case .integer(let number): .string(String(number))
            case .bool(let flag): .string(flag ? "1" : "0")
            default: value
            }
        }
        #expect(
            try Configuration(.object(members), hostName: "pi")
                == Configuration(parsing: Self.iOSConfiguration.utf8, hostName: "pi"))
    }

    @Test("An .otrc of Android loads as it is, with a warning of its identity alone")
    func android() throws {
        let text = """
            {"_type":"configuration","_build":420500000,"_id":"0a1b2c3d","autostartOnBoot":true,"cleanSession":false,
            "clientId":"janephone","cmd":true,"connectionTimeoutSeconds":30,"debugLog":false,"deviceId":"phone",
            "enableMapRotation":true,"encryptionKey":"","experimentalFeatures":[],"fusedRegionDetection":true,
            "host":"broker.example","ignoreInaccurateLocations":0,"ignoreStaleLocations":0.0,"info":true,
            "isSetupCompleted":true,"keepalive":3600,"locatorDisplacement":500,"locatorInterval":60,
            "locatorPriority":null,"mapLayerStyle":"GoogleMapDefault","mode":0,"monitoring":1,
            "moveModeLocatorInterval":10,"mqttProtocolLevel":3,"notificationEvents":true,"notificationGeocoderErrors":true,
            "notificationHigherPriority":false,"notificationLocation":true,"opencageApiKey":"","osmTileScaleFactor":1.0,
            "password":"secret","pegLocatorFastestIntervalToInterval":false,"ping":15,"port":8883,"pubExtendedData":true,
            "pubQos":1,"pubRetain":true,"pubTopicBase":"owntracks/%u/%d","publishLocationOnConnect":false,
            "remoteConfiguration":false,"reverseGeocodeProvider":"Device","showRegionsOnMap":false,"sub":true,"subQos":2,
            "subTopic":"owntracks/+/+","theme":"Auto","tid":"ph","tls":true,"tlsClientCrt":"","username":"jane",
            "ws":false,"waypoints":[]}
            """
        let configuration = try Configuration(parsing: text.utf8, hostName: "pi")
        #expect(configuration.warnings.map(\.member) == ["clientId"])
        #expect(configuration.broker.keepalive == .seconds(3600))
        #expect(configuration.broker.protocolLevel == .v3_1)
    }

    @Test("What a phone has and a gateway cannot keep up is warned of")
    func phoneCertificates() throws {
        let configuration = try Configuration(
            ["allowinvalidcerts": true, "clientpkcs": "phone.p12"], hostName: "pi")
        #expect(configuration.warnings.map(\.member) == ["allowinvalidcerts", "clientpkcs"])
    }

    /// One region of each kind, with all that a region can have.
    static let regions: [[String: JSONValue]] = [
        ["desc": .string("-Kitchen|1|2:\(sampleUUID):1:65535")], ["desc": .string("K:\(sampleUUID)::5"), "rid": "r2"],
        ["desc": .string("K:\(sampleUUID):0001:CAFE"), "rid": "rid/with#odd +signs\n"],
        ["desc": "+60follow", "rad": 50, "rid": "r4"],
        ["desc": "Lunch: the corner", "rad": .number(49.5), "rid": "r5", "lat": .number(-12.345_678_9), "lon": 179],
        [
            "desc": "Länge \"…\" /\\", "rid": "r6", "leaveAfter": "auto", "enterRSSI": -60, "leaveRSSI": -70, "wtst": 1,
            "more": [1, .number(2.5), .null, ["a": "b"]],
        ],
        ["desc": .string("Car:\(sampleUUID):7"), "rad": -1, "rid": "r7", "leaveAfter": .number(12.5)],
    ]

    @Test("An .otrw of ours loads back to the same regions and the same bytes", arguments: NumberBase.allCases)
    func roundTrip(base: NumberBase) throws {
        let reading = try WaypointsReading(.array(Self.regions.map { waypoint($0) }), base: .auto)
        #expect(reading.problems == [])
        let set = RegionSet.reading(reading)
        let exported = waypointsMessage(set.regions, base: base).text
        #expect(waypointsBytes(set.regions, base: base) == Array(exported.utf8))
        let again = RegionSet.reading(try WaypointsReading(JSONValue(parsing: exported), base: base))
        #expect(again == set)
        #expect(waypointsMessage(again.regions, base: base).text == exported)
    }

    @Test("A minor without a major is exported with the 0 that keeps it a minor (decision 3)")
    func exportedMinor() throws {
        #expect(try region(Self.regions[1]).waypoint()["desc"] == .string("K:\(sampleUUID):0:5"))
    }

    @Test("Settings that are shown load back to the same settings and the same bytes")
    func shown() throws {
        let texts = [
            "{}", "{port: 0, http: null, scanner: {capture: 'f', speed: 2.5}, adapter: 'hci1', leaveAfter: 12.5}",
            "{username: 'jane', tag: 'x', lat: 52.1234567, lon: -6, enterRSSI: -70, card: {name: 'K'}, away: {lat: 1, lon: 2}}",
            """
            {username: 'jane', encryptionKeyFile: 'k', passwordFile: 'p', waypoints: [{_type: 'waypoint', desc: 'A', rad: 9, tst: 1,
            rid: 'a'}], trackers: [{deviceId: 'keys', encryptionKey: ''}, {deviceId: 'bag', away: {lat: 3, lon: 4}}]}
            """,
        ]
        for text in texts {
            let files = ConfigurationFiles { Secret("in \($0)") }
            let configuration = try Configuration(parsing: text.utf8, hostName: "pi", files: files)
            let shown = configuration.shown
            let again = try Configuration(parsing: shown.bytes, hostName: "elsewhere", files: files)
            #expect(again == configuration)
            #expect(again.shown.text == shown.text)
        }
    }

    @Test("All settings that are shown are settings")
    func shownMembers() throws {
        let shown = try #require(Configuration.defaults(hostName: "pi").shown.object)
        #expect(throws: Never.self) { try Configuration(.object(shown), hostName: "pi") }
    }
}

extension RegionSet {
    static func reading(_ reading: WaypointsReading) -> RegionSet {
        var set = RegionSet()
        set.apply(reading.changes)
        return set
    }
}
