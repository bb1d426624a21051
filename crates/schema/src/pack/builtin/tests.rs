use std::collections::HashSet;
use std::time::Instant;

use super::*;
use crate::model::{Count, Field, FieldKind, FieldRef, Length, Meaning, Wire};

fn guid(text: &str) -> Guid {
    text.parse().expect("a GUID written by hand")
}

const DNS_CLIENT: &str = "1c95126e-7eea-49a9-a3fe-a378b03ddb4d";
const KERNEL_PROCESS: &str = "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716";
const KERNEL_NETWORK: &str = "7dd42a49-5329-4832-8dfd-43d979153a88";
const DOTNET: &str = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";

/// A layout in short: `name:wire`, with meaning, length and count where they are not the plain ones.
fn short(fields: &[Field]) -> String {
    fields.iter().map(short_field).collect::<Vec<_>>().join(" ")
}

fn short_field(field: &Field) -> String {
    let rule = |r: &FieldRef| format!("{}#{}", "^".repeat(usize::from(r.up)), r.index);
    let text = match &field.kind {
        FieldKind::Struct(members) => format!("{}{{{}}}", field.name, short(members)),
        FieldKind::Value { wire, meaning, length } => {
            let meaning = if *meaning == Meaning::Plain { String::new() } else { format!("/{meaning:?}") };
            let length = match length {
                Length::Natural => String::new(),
                Length::Fixed(n) => format!("={n}"),
                Length::Field(r) => format!("={}", rule(r)),
            };
            format!("{}:{wire:?}{meaning}{length}", field.name)
        }
    };
    let count = match &field.count {
        Count::One => String::new(),
        Count::Fixed(n) => format!("*{n}"),
        Count::Field(r) => format!("*{}", rule(r)),
        Count::Prefixed | Count::Rest => format!("*{:?}", field.count),
    };
    text + &count + if field.optional { "?" } else { "" } + if field.hidden { "!" } else { "" }
}

/// The best layout of a manifest event: (event name, layout, origin that gave it).
fn best(provider: &str, id: u16, version: u8) -> (String, String, &'static str) {
    let layout = &Pack::builtin().provider(&guid(provider)).expect("a known provider").layouts(id, version)[0];
    let name = layout.schema.event_name.clone().unwrap_or_default();
    (name, short(&layout.schema.fields), layout.origins.split(',').next().unwrap())
}

fn classic(group: u8, opcode: u8, version: u16) -> (String, String) {
    let class = Pack::builtin().kernel_class(group).expect("a known group");
    let layout = &Pack::builtin().classic(&class.guid, opcode, version)[0];
    (layout.schema.event_name.clone().unwrap(), short(&layout.schema.fields))
}

#[test]
fn manifest_layouts_are_those_of_the_manifests() {
    let dns = "Interface:Utf16 TotalServerCount:UInt32 Index:UInt32 DynamicAddress:UInt8 AddressLength:UInt32 \
               Address:Binary=#4";
    assert_eq!(best(DNS_CLIENT, 1001, 0), ("DnsServerForInterface".into(), dns.into(), "dumps 7600-18990"));
    let start = "ProcessID:UInt32/ProcessId CreateTime:FileTime ParentProcessID:UInt32/ProcessId SessionID:UInt32 \
                 ImageName:Utf16";
    assert_eq!(best(KERNEL_PROCESS, 1, 0), ("ProcessStart/Start".into(), start.into(), "tx"));
    let tick = "AllocationAmount:UInt32/Hex AllocationKind:UInt32 ClrInstanceID:UInt16 AllocationAmount64:UInt64/Hex \
                TypeID:Pointer TypeName:Utf16 HeapIndex:UInt32";
    assert_eq!(best(DOTNET, 10, 2), ("GarbageCollection/GCAllocationTick".into(), tick.into(), "perfview"));
    let bulk = "Count:UInt32 ClrInstanceID:UInt16 Values{TypeID:UInt64/Hex ModuleID:UInt64/Hex TypeNameID:UInt32 \
                Flags:UInt32 CorElementType:UInt8 Name:Utf16 TypeParameterCount:UInt32 \
                TypeParameters:UInt64/Hex*#6}*#0";
    assert_eq!(best(DOTNET, 15, 0).1, bulk);
}

/// Lists print a number in the place of a structure; its members come from another source.
#[test]
fn structures_that_lists_have_lost_are_put_back() {
    let urb = "fid_URB_Hdr_Length:UInt16/Hex fid_URB_Hdr_Function:UInt16/Hex fid_URB_Hdr_Status:UInt32/Hex \
               fid_URB_Hdr_UsbdDeviceHandle:Pointer fid_URB_Hdr_UsbdFlags:Pointer fid_URB_PipeHandle:Pointer \
               fid_URB_TransferFlags:UInt32/Hex fid_URB_TransferBufferLength:UInt32/Hex fid_URB_TransferBuffer:Pointer \
               fid_URB_TransferBufferMDL:Pointer fid_URB_ReservedMBZ:Pointer fid_URB_ReservedHcd:Pointer*8";
    let handles = "fid_UcxController:Pointer fid_UsbDevice:Pointer fid_PipeHandle:Pointer fid_IRP_Ptr:Pointer fid_URB_Ptr:Pointer";
    let bulk = format!(
        "{handles} fid_UCX_URB_BULK_OR_INTERRUPT_TRANSFER{{{urb}}} fid_IRP_NtStatus:UInt32 \
         fid_URB_TransferDataLength:UInt16 fid_URB_TransferData:UInt8*#7"
    );
    assert_eq!(best("36da592d-e43a-4e28-af6f-4bc57c5a11e8", 28, 0).1, bulk);
    let sets = "Count:UInt32 WSCommitInfo{ProcessID:UInt32 WorkingSetPageCount:Pointer CommitPageCount:Pointer \
                VirtualSizeInPages:Pointer PrivateWorkingSetPageCount:Pointer StoreSizePageCount:Pointer \
                StoredPageCount:Pointer CommitDebtInPages:Pointer SharedCommitInPages:Pointer}*#0";
    assert_eq!(best("d1d93ef7-e1f2-4f45-9943-03d245fe6c00", 2, 2).1, sets);
    let windows = Pack::builtin().provider(&guid("8c416c79-d49b-4f01-a467-e56d3aa8234c")).unwrap();
    assert!(short(&windows.layouts(9, 0)[0].schema.fields).ends_with("TargetLBN:UInt32}*1 SysErrorType:UInt32"));
    let port = Pack::builtin().provider(&guid("c88a4ef5-d048-4013-9408-e04b7db2814a")).unwrap();
    assert_eq!(port.all().iter().filter(|layout| layout.trust.is_doubtful()).count(), 21);
}

/// Runs of builds from the gathered facts.
#[test]
fn providers_and_layouts_have_the_releases_that_have_them() {
    let pack = Pack::builtin();
    for (provider, name, releases) in [
        ("a7975c8f-ac13-49f1-87da-5a984a4ab417", "Microsoft-Windows-WinRM", "7 (7600) to 11 26H1 (28000)"),
        ("988c59c5-0a1c-45b6-a555-0c62276e327d", "Microsoft-Windows-SMBClient", "10 1507 (10240) to 11 26H1 (28000)"),
        ("6ad52b32-d609-4be9-ae07-ce8dae937e39", "Microsoft-Windows-RPC", "7 (7600) to 11 26H1 (28000)"),
        ("05f02597-fe85-4e67-8542-69567ab8fd4f", "Microsoft-Windows-LiveId", "10 1507 (10240) to 11 26H1 (28000)"),
        ("11cd958a-c507-4ef3-b3f2-5fd9dfbd2c78", "Microsoft-Windows-Windows Defender", "7 (7600) to 11 26H1 (28000)"),
        ("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac", "Microsoft-Windows-PktMon", "10 1809 (17763) to 11 26H1 (28000)"),
        ("9e5f9046-43c6-4f62-ba13-7b19896253ff", "Microsoft-Windows-EtwCollector", "10 1511 (10586)"),
    ] {
        let provider = pack.provider(&guid(provider)).unwrap();
        assert_eq!((provider.name, provider.releases.to_string().as_str()), (name, releases));
        assert!(!provider.all().is_empty());
    }
    // Multi-plane flips of versions that newer releases have replaced.
    let flip = &pack.provider(&guid("802ec45a-1e99-4b83-9920-87c98277ba9d")).unwrap().layouts(386, 2)[0];
    assert_eq!(flip.releases.to_string(), "10 1803 (17134) to 10 1809 (17763)");
}

#[test]
fn names_of_keywords_and_maps_come_along() {
    let pack = Pack::builtin().provider(&guid(DOTNET)).unwrap();
    assert_eq!(pack.name, "Microsoft-Windows-DotNETRuntime");
    assert!(pack.keywords.contains(&(1, "GCKeyword".to_owned())));
    let tick = &pack.layouts(10, 2)[0];
    assert_eq!((tick.level, &tick.schema.keyword_names[..]), (Some(5), &["GCKeyword".to_owned()][..]));
    let map = tick.schema.fields[1].map.as_ref().expect("AllocationKind has names");
    assert_eq!(
        (map.name.as_str(), map.entries()),
        ("GCAllocationKindMap", &[(0, "Small".into()), (1, "Large".into())][..])
    );
    assert!(pack.layouts(10, 200).is_empty() && pack.layouts(9999, 0).is_empty());
}

#[test]
fn overrides_correct_what_is_registered_wrongly() {
    let pack = Pack::builtin();
    let first = |id, version| short(&pack.overrides(&guid(DOTNET), id, version)[0].schema.fields);
    let stack = "ClrInstanceID:UInt16 Reserved1:UInt8 Reserved2:UInt8 FrameCount:UInt32 Stack:Pointer*#3";
    assert_eq!(first(82, 0), stack);
    assert!(first(10, 4).ends_with("Address:Pointer ObjectSize:UInt64"));
    let compact = "ClrInstanceID:UInt16 Count:UInt16 Values{TimePlan:UInt32 TimeCompact:UInt32 TimeRelocate:UInt32 \
                   Padding:UInt32! TotalRefs:Pointer ZeroRefs:Pointer}*#1";
    assert_eq!(first(208, 0), compact);
    assert_eq!(pack.overrides(&guid(DOTNET), 208, 0).len(), 2);
    let v6 = "PID:UInt32 size:UInt32 daddr:Binary/IPv6=16 saddr:Binary/IPv6=16 dport:UInt16/Port sport:UInt16/Port \
              seqnum:UInt32 connid:Pointer";
    let [layout] = pack.overrides(&guid(KERNEL_NETWORK), 27, 0) else { panic!("one layout") };
    assert_eq!(short(&layout.schema.fields), v6);
    assert!(layout.evidence.is_some());
    assert!(pack.overrides(&guid(KERNEL_NETWORK), 17, 0).is_empty());
}

#[test]
fn every_override_says_why() {
    for section in OVERRIDES {
        let pack = Pack::builtin().override_pack(&section.guid).unwrap();
        assert!(!pack.all().is_empty() && pack.all().iter().all(|l| l.evidence.is_some_and(|e| e.len() > 10)));
    }
}

#[test]
fn kernel_layouts_are_those_of_the_documents() {
    #[rustfmt::skip]
    let expected: &[(u8, u8, u16, &str, &str)] = &[
        (0x03, 1, 4, "Process/Start", "UniqueProcessKey:Pointer ProcessId:UInt32 ParentId:UInt32 SessionId:UInt32 ExitStatus:Int32 DirectoryTableBase:Pointer Flags:UInt32 UserSID:WbemSid ImageFileName:Ansi CommandLine:Utf16 PackageFullName:Utf16 ApplicationId:Utf16"),
        (0x03, 2, 0, "Process/End", "ProcessId:Pointer ParentId:Pointer UserSID:WbemSid ImageFileName:Ansi"),
        (0x05, 36, 2, "Thread/CSwitch", "NewThreadId:UInt32/Hex OldThreadId:UInt32/Hex NewThreadPriority:Int8 OldThreadPriority:Int8 PreviousCState:UInt8 SpareByte:Int8 OldThreadWaitReason:Int8 OldThreadWaitMode:Int8 OldThreadState:Int8 OldThreadWaitIdealProcessor:Int8 NewThreadWaitTime:UInt32/Hex Reserved:UInt32"),
        (0x05, 36, 5, "Thread/CSwitch", "NewThreadId:UInt32 OldThreadId:UInt32 NewThreadPriority:Int8 OldThreadPriority:Int8 PreviousCState:UInt8 NewThreadPriorityDecrement:Int8 OldThreadWaitReason:Int8 ThreadFlags:Int8 OldThreadState:Int8 OldThreadWaitIdealProcessor:Int8 NewThreadWaitTime:UInt32 OldThreadRemainingQuantum:UInt32 Reserved2:UInt32"),
        (0x14, 10, 1, "Image/Load", "ImageBase:Pointer ImageSize:Pointer ProcessId:UInt32 FileName:Utf16"),
        // Types of one structure share its versions.
        (0x14, 3, 0, "Image/DCStart", "BaseAddress:Pointer ModuleSize:UInt32 ImageFileName:Utf16"),
        (0x14, 4, 1, "Image/DCEnd", "ImageBase:Pointer ImageSize:Pointer ProcessId:UInt32 FileName:Utf16"),
        (0x04, 36, 0, "FileIo/FileRundown", "FileObject:Pointer FileName:Utf16"),
        (0x0b, 35, 2, "SystemConfig/Processors", "ProcessorIndex:UInt32 FeatureSet:UInt32 ProcessorSpeed:UInt32 ProcessorName:Utf16=64 ProcessorIdentifier:Utf16=128 VendorIdentifier:Utf16=16"),
        (0x09, 10, 2, "Registry/Create", "InitialTime:TraceTime Status:UInt32/NtStatus Index:UInt32 KeyHandle:Pointer KeyName:Utf16"),
        (0x01, 10, 3, "DiskIo/Read", "DiskNumber:UInt32 IrpFlags:UInt32 TransferSize:UInt32 Reserved:UInt32 ByteOffset:UInt64 FileObject:Pointer Irp:Pointer HighResResponseTime:UInt64/Ticks IssuingThreadId:UInt32"),
        (0x04, 76, 2, "FileIo/OperationEnd", "IrpPtr:Pointer ExtraInfo:Pointer NtStatus:UInt32/NtStatus"),
        (0x06, 26, 2, "TcpIp/SendIPV6", "PID:UInt32 size:UInt32 daddr:IPv6 saddr:IPv6 dport:Port sport:Port startime:UInt32 endtime:UInt32 seqnum:UInt32 connid:Pointer"),
        (0x0f, 67, 2, "PerfInfo/ISR", "InitialTime:TraceTime Routine:Pointer ReturnValue:UInt8 Vector:UInt16 Reserved:UInt8"),
        (0x18, 32, 2, "StackWalk/Stack", "EventTimeStamp:TraceTime StackProcess:UInt32 StackThread:UInt32 Stack:Pointer*Rest"),
        (0x07, 35, 0, "Job/AssignProcess", "ContainerId:Guid JobId:UInt32 UniqueProcessId:UInt32 Status:Int32/NtStatus"),
        (0x12, 61, 0, "Power/PpmIdleProcessorSelection", "SelectedState:UInt32 VetoedStates:UInt32 VetoReason:UInt32*#1"),
        (0x16, 0, 0, "Cc/WorkItemEnqueue", "WorkItemKey:Pointer FileObjectKey:Pointer QueueType:UInt8 WorkItemType:UInt8 Requeue:Bool8 Reserved:UInt8 Reserved2:UInt32?!"),
        (0x16, 4, 3, "Cc/WriteBehind", "WorkItemKey:Pointer FileObjectKey:Pointer QueueType:UInt8 WorkItemType:UInt8 Requeue:Bool8 Reserved:UInt8 Reserved2:UInt32?!"),
        (0x02, 0x7d, 1, "PageFault/MemInfoExWS", "Count:UInt32 Values{ProcessId:UInt32/ProcessId WorkingSetPageCount:SizeT CommitPageCount:SizeT VirtualSizeInPages:SizeT PrivateWorkingSetPageCount:SizeT}*#0"),
        (0x05, 0x3a, 2, "Thread/DFSSStartNewInterval", "CurrentGeneration:UInt32 SessionCount:UInt32 TotalCycleCredit:UInt64 TotalCyclesAccumulated:UInt64 SessionQuota{SessionId:UInt32 CpuShareWeight:UInt32 CapturedWeightData:Int64 CyclesAccumulated:UInt64}*#1"),
        (0x0f, 0x51, 2, "PerfInfo/TimerExpiration", "ExpectedDueTime:UInt64 TimerAddress:Pointer DeferredRoutine:Pointer EncodedDelay:UInt8 Reserved:UInt8?! Reserved2:UInt16?! Reserved3:UInt32?!"),
        (0x00, 0, 2, "EventTrace/Header", "BufferSize:UInt32 Version:UInt32 ProviderVersion:UInt32 NumberOfProcessors:UInt32 EndTime:FileTime TimerResolution:UInt32 MaxFileSize:UInt32 LogFileMode:UInt32 BuffersWritten:UInt32 StartBuffers:UInt32 PointerSize:UInt32 EventsLost:UInt32 CPUSpeed:UInt32 LoggerName:Pointer LogFileName:Pointer TimeZoneInformation:Binary=176 BootTime:FileTime PerfFreq:UInt64 StartTime:FileTime ReservedFlags:UInt32 BuffersLost:UInt32 SessionNameString:Utf16 LogFileNameString:Utf16"),
        (0x00, 0x40, 2, "EventTrace/DbgIdRSDS", "Guid:Guid Age:UInt32 PdbName:Ansi"),
        (0x00, 0x42, 2, "EventTrace/BuildInfo", "BuildString:Ansi"),
        (0x00, 0x43, 2, "EventTrace/ProviderBinaryPath", "GuidCount:UInt32 Guid:Guid*#0 BinaryPath:Utf16"),
        (0x00, 0x50, 0, "EventTrace/PartitionInfoExtension", "EventVersion:UInt16 Reserved:UInt16 PartitionType:UInt32 QpcOffsetFromRoot:Int64 PartitionId:Guid ParentId:Guid"),
        (0x00, 0x52, 2, "EventTrace/LastDroppedTimes", "Count:UInt32 Pad:UInt32 Times:UInt64*#0"),
    ];
    for (group, opcode, version, name, layout) in expected {
        assert_eq!(classic(*group, *opcode, *version), ((*name).to_owned(), (*layout).to_owned()));
    }
}

#[test]
fn classes_outside_the_hook_table_are_described_too() {
    #[rustfmt::skip]
    let expected: &[(&str, u8, u16, &str, &str)] = &[
        ("b3e675d7-2554-4f18-830b-2762732560de", 36, 2, "ImageID/DbgID_RSDS", "ImageBase:Pointer ProcessId:UInt32 GuidSig:Guid Age:UInt32 PdbFileName:Ansi"),
        ("9b79ee91-b5fd-41c0-a243-4248e266e9d0", 35, 0, "SysConfig/VolumeMapping", "NtPath:Utf16 DosPath:Utf16"),
        ("bbccf6c1-6cd1-48c4-80ff-839482e37671", 33, 0, "EventMetadata/EventMapInfo", "ProviderGuid:Guid EventMapInfo:RestBinary"),
        ("ed54dff8-c409-4cf6-bf83-05e1e61a09c4", 37, 0, "WinSat/SystemConfig", "Version:UInt32 UncompressedSize:UInt32 CompressedXml:RestBinary"),
        ("d42cf7ef-de92-473e-8b6c-621ea663113a", 1, 1, "IISGeneral/GENERAL_REQUEST_START", "ContextId:Guid SiteId:UInt32 AppPoolId:Utf16 ConnId:UInt64 RawConnId:UInt64 RequestURL:Utf16 RequestVerb:Ansi"),
        ("bf6ef1cb-89b5-490a-80ac-b180cfbcff0f", 34, 1, "PerfTrackMetadata/Name", "Name:Ansi Value:UInt32"),
        ("04c8a870-3369-12f8-4769-24e484a9e725", 18, 0, "ADODB/TextW", "ModID:UInt32 msgStr:Utf16"),
    ];
    for (class, opcode, version, name, layout) in expected {
        let found = &Pack::builtin().classic(&guid(class), *opcode, *version)[0].schema;
        assert_eq!((found.event_name.as_deref(), short(&found.fields).as_str()), (Some(*name), *layout));
    }
    let names = ["b3e675d7-2554-4f18-830b-2762732560de", "d42cf7ef-de92-473e-8b6c-621ea663113a"];
    let names = names.map(|g| Pack::builtin().provider_name(&guid(g)));
    assert_eq!(names, [Some("KernelTraceControl-ImageID"), Some("IIS_Trace-IISGeneral")]);
    assert_eq!(
        Pack::builtin().provider_name(&guid("9e814aad-3204-11d2-9a82-006008a86939")),
        Some("Windows Kernel Trace")
    );
}

/// Lists of classic events do not distinguish 16-bit texts from 8-bit ones.
#[test]
fn texts_of_unknown_width_are_read_both_ways() {
    let class = guid("393da8c0-dbed-11d2-895b-00c04f79ab69");
    let found: Vec<String> = Pack::builtin().classic(&class, 1, 0).iter().map(|l| short(&l.schema.fields)).collect();
    let rest = "ChannelType:UInt32 NegotiatedFlags:UInt32";
    let expected = [format!("Client:Utf16 Account:Utf16 {rest}"), format!("Client:Ansi Account:Ansi {rest}")];
    assert_eq!(found, expected);
}

#[test]
fn standard_types_have_names_where_nothing_else_names_them() {
    let name = |class: &Guid, opcode| Pack::builtin().classic_event_name(class, opcode);
    let unknown = Guid([7; 16]);
    let names = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map(|opcode| name(&unknown, opcode).unwrap_or_default());
    let standard = ["Info", "Start", "End", "DCStart", "DCEnd", "Extension", "Reply", "Dequeue", "Checkpoint", ""];
    assert_eq!(names, standard);
    let process = Pack::builtin().kernel_class(0x03).unwrap().guid;
    assert_eq!([name(&process, 5), name(&process, 1)].map(Option::unwrap), ["Process/Extension", "Process/Start"]);
    let logon = guid("393da8c0-dbed-11d2-895b-00c04f79ab69");
    assert_eq!(name(&logon, 5).unwrap(), "NlServerAuth/Extension");
}

#[test]
fn a_missing_version_borrows_downwards_never_upwards() {
    let class = Pack::builtin().kernel_class(0x03).unwrap();
    let version = |v| Pack::builtin().classic(&class.guid, 39, v)[0].version;
    assert_eq!([version(9), version(5), version(3), version(0)], [5, 5, 3, 0]);
    // The lowest version of a swapped-in process is 2.
    assert!(Pack::builtin().classic(&class.guid, 35, 1).is_empty());
    assert_eq!(Pack::builtin().classic(&class.guid, 35, 3)[0].version, 2);
    assert!(Pack::builtin().classic(&class.guid, 250, 0).is_empty());
    assert!(Pack::builtin().classic(&Guid::ZERO, 1, 0).is_empty());
}

#[test]
fn hook_groups_have_classes_and_names() {
    let pack = Pack::builtin();
    let process = pack.kernel_class(3).unwrap();
    assert_eq!((process.dataset, process.event_prefix), ("Kernel-Process", "Process"));
    assert_eq!(pack.provider_name(&process.guid), Some("Kernel-Process"));
    assert_eq!(pack.kernel_class(0).unwrap().dataset, "Kernel-EventTrace");
    assert_eq!(pack.kernel_class_of_hook(IMAGE_LOAD_HOOK).unwrap().dataset, "Kernel-Image");
    assert_eq!((0..=0x1e).filter(|g| pack.kernel_class(*g).is_some()).count(), 31);
    assert_eq!(pack.kernel_class(0x1f), None);
    let name = |group, opcode| pack.classic_event_name(&pack.kernel_class(group).unwrap().guid, opcode);
    assert_eq!(name(0x05, 0x24).as_deref(), Some("Thread/CSwitch"));
    assert_eq!(name(0x05, 0x2d).as_deref(), Some("Thread/WaitSingle"));
    assert_eq!(name(0x07, 0x20).as_deref(), Some("Job/Create"));
    assert_eq!(name(0x07, 0xff), None);
}

#[test]
fn every_section_of_the_pack_reads() {
    let pack = Pack::builtin();
    let (mut layouts, mut doubtful) = (0, 0);
    for guid in pack.providers() {
        let provider = pack.provider(&guid).unwrap();
        layouts += provider.all().len();
        doubtful += provider.all().iter().filter(|l| l.trust.is_doubtful()).count();
        check(&provider.guid, provider.all());
    }
    for guid in pack.classes() {
        check(&guid, pack.class(&guid).unwrap().all());
    }
    assert!(layouts > 75_000 && doubtful * 20 < layouts, "{layouts} layouts, {doubtful} doubtful");
}

/// No layout stands twice, undamaged ones stand first, and what takes the rest of the payload is its last field.
fn check(guid: &Guid, layouts: &[PackLayout]) {
    let mut seen = HashSet::new();
    for layout in layouts {
        let place = || format!("{guid} {} {}", layout.id, layout.version);
        assert!(seen.insert((layout.id, layout.version, &layout.schema.fields)), "{} stands twice", place());
        let (_, before) = layout.schema.fields.split_last().map_or((None, &[][..]), |(l, b)| (Some(l), b));
        assert!(!before.iter().any(takes_rest), "{}: rest in the middle", place());
    }
    for pair in layouts.windows(2) {
        let same = (pair[0].id, pair[0].version) == (pair[1].id, pair[1].version);
        assert!(!same || !pair[0].trust.is_doubtful() || pair[1].trust.is_doubtful(), "{guid} {}: rank", pair[0].id);
    }
}

fn takes_rest(field: &Field) -> bool {
    use Wire::{RestAnsi, RestBinary, RestUtf16};
    let rest = matches!(field.kind, FieldKind::Value { wire: RestBinary | RestUtf16 | RestAnsi, .. });
    rest || field.count == Count::Rest
}

#[test]
fn kernel_rows_name_each_field_once() {
    let pack = Pack::builtin();
    for group in 0..=0x1e {
        let class = pack.class(&pack.kernel_class(group).unwrap().guid);
        for layout in class.into_iter().flat_map(ClassPack::all) {
            let mut names = HashSet::new();
            for field in &layout.schema.fields {
                let place = format!("{group:#x} {} {}", layout.id, layout.version);
                assert!(names.insert(&field.name) || field.name.starts_with("Reserved"), "{place} {}", field.name);
            }
        }
    }
}

#[test]
fn index_tables_are_sorted_and_unique() {
    for table in [PROVIDERS, CLASSES, OVERRIDES] {
        assert!(table.windows(2).all(|pair| pair[0].guid < pair[1].guid));
    }
    assert!(NAMES.windows(2).all(|pair| pair[0].guid < pair[1].guid));
    assert!(NAMES.iter().all(|named| find(PROVIDERS, &named.guid).is_none() && find(CLASSES, &named.guid).is_none()));
    assert!(HOOK_GROUPS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(HOOK_NAMES.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)));
}

#[test]
fn the_pack_is_small_and_three_providers_load_fast() {
    let pack: &'static Pack = Box::leak(Box::new(Pack::new()));
    let embedded_len: usize = SHARDS.iter().map(|(frame, _)| frame.len()).sum();
    assert!(embedded_len < 2 << 20, "{embedded_len} bytes");
    let start = Instant::now();
    for name in [DNS_CLIENT, KERNEL_PROCESS, DOTNET] {
        assert!(!pack.provider(&guid(name)).unwrap().all().is_empty());
    }
    let time = start.elapsed();
    println!("{embedded_len} bytes embedded; three providers in {time:?}");
    assert!(time.as_millis() < 500, "{time:?}, where a few ms are usual");
}

#[test]
fn faulty_lines_are_refused() {
    #[rustfmt::skip]
    let cases = [
        ("L\t0\tu32 A\tbin=#1 B", "line 1: `bin=#1 B`: field of `#1`"),
        ("L\t0\tw A\tbin=#0 B", "line 1: `bin=#0 B`: `#0` is not one integer"),
        ("L\t0\tu32 A\tu8=4 B", "line 1: `u8=4 B`: length"),
        ("L\t0\tbin B", "line 1: `bin B`: length"),
        ("L\t0\tu33 A", "line 1: `u33 A`: type `u33`"),
        ("L\t0\tu32@0 A", "line 1: `u32@0 A`: map 0"),
        ("L\t0\t{ A\tu8 B", "line 1: `{` without `}`"),
        ("L\t0\t}", "line 1: `}` without `{`"),
        ("L\t0\t{ A\tu8*^^#0 B\t}", "line 1: `u8*^^#0 B`: level of `^^#0`"),
        ("L\t1\tu8 A", "line 1: not a line of the format: `L\t1\tu8 A`"),
        ("E\t1\t0\t4\t0-0", "line 1: layout 0"),
        ("L\t0\nE\t1\t0\t4\t0-0", "line 2: origins 0"),
        ("L\t0\nR\t0\tx\nE\t2\t0\t4\t0-0\nE\t1\t0\t4\t0-0", "line 4: event 1 version 0 stands behind a higher one"),
        ("L\t0\nE\t2\t0\t4\t0?0", "line 2: state of `0?0`"),
        ("L\t0\nR\t0\tx\nE\t2\t0\t4\t0-0\tT\tO\t1", "line 3: keyword 1"),
        ("R\t0\tlists 11", "line 1: builds `11`"),
        ("M\t0\tv\tN\t1:A", "line 1: map entry `1:A`"),
    ];
    for (text, message) in cases {
        assert_eq!(text::parse_section(text, "").err().map(|e| e.to_string()).as_deref(), Some(message));
    }
}
