//! The machine: its processes, and the kernel's events about processes, threads, images, disks and processors.

use crate::synth::{Kernel, payload, perfinfo64, system64};

/// A process of the recording. Its threads are `pid + 4`, `pid + 8`, … .
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub session: u32,
    pub name: &'static str,
    pub command_line: &'static str,
    /// Authority 5, then these.
    pub user: &'static [u32],
    pub threads: &'static [&'static str],
    pub images: &'static [&'static str],
}

const SYSTEM: &[u32] = &[18];
const NETWORK_SERVICE: &[u32] = &[20];
const SHOPKEEPER: &[u32] = &[21, 1_111_111_111, 2_222_222_222, 3_333_333_333, 1001];
const NTDLL: &str = "\\Windows\\System32\\ntdll.dll";
const KERNEL32: &str = "\\Windows\\System32\\kernel32.dll";

/// Processes that run from before the recording until after it.
pub static RESIDENT: [Process; 7] = [
    Process {
        pid: 4,
        parent: 0,
        session: 0,
        name: "System",
        command_line: "",
        user: SYSTEM,
        threads: &["", "", ""],
        images: &["\\SystemRoot\\system32\\ntoskrnl.exe", "\\SystemRoot\\System32\\drivers\\disk.sys"],
    },
    Process {
        pid: 388,
        parent: 4,
        session: 0,
        name: "smss.exe",
        command_line: "\\SystemRoot\\System32\\smss.exe",
        user: SYSTEM,
        threads: &[""],
        images: &["\\Windows\\System32\\smss.exe", NTDLL],
    },
    Process {
        pid: 640,
        parent: 388,
        session: 0,
        name: "services.exe",
        command_line: "C:\\Windows\\system32\\services.exe",
        user: SYSTEM,
        threads: &["", ""],
        images: &["\\Windows\\System32\\services.exe", NTDLL, KERNEL32],
    },
    Process {
        pid: 1320,
        parent: 640,
        session: 0,
        name: "svchost.exe",
        command_line: "C:\\Windows\\system32\\svchost.exe -k NetworkService -p -s Dnscache",
        user: NETWORK_SERVICE,
        threads: &["Service main", "Resolver", "Resolver"],
        images: &["\\Windows\\System32\\svchost.exe", NTDLL, KERNEL32, "\\Windows\\System32\\dnsrslvr.dll"],
    },
    Process {
        pid: 4120,
        parent: 4000,
        session: 1,
        name: "explorer.exe",
        command_line: "C:\\Windows\\Explorer.EXE",
        user: SHOPKEEPER,
        threads: &["", "Desktop"],
        images: &["\\Windows\\explorer.exe", NTDLL, KERNEL32],
    },
    Process {
        pid: 5200,
        parent: 4120,
        session: 1,
        name: "shop.exe",
        command_line: "\"C:\\Shop\\shop.exe\" --till 3",
        user: SHOPKEEPER,
        threads: &["Main", "Checkout", "Checkout", "Größen"],
        images: &["\\Shop\\shop.exe", NTDLL, KERNEL32, "\\Windows\\System32\\dnsapi.dll"],
    },
    Process {
        pid: 5400,
        parent: 5200,
        session: 1,
        name: "stock.exe",
        command_line: "C:\\Shop\\stock.exe",
        user: SHOPKEEPER,
        threads: &["Main", "Counter"],
        images: &["\\Shop\\stock.exe", NTDLL, KERNEL32],
    },
];

/// Starts after four seconds and ends after nine.
pub static BACKUP: Process = Process {
    pid: 6012,
    parent: 5200,
    session: 1,
    name: "backup.exe",
    command_line: "C:\\Shop\\backup.exe /target:D:\\",
    user: SHOPKEEPER,
    threads: &["Main", "Writer"],
    images: &["\\Shop\\backup.exe", NTDLL, KERNEL32],
};

impl Process {
    pub fn tid(&self, thread: usize) -> u32 {
        self.pid + 4 * (u32::try_from(thread).expect("few threads") + 1)
    }

    /// Process, version 4: start 01, end 02, running at the start 03, at the end 04.
    pub fn event(&self, opcode: u8, time: i64) -> Kernel {
        let still_active = 259;
        let status = if matches!(opcode, 1 | 3) { still_active } else { 0 };
        let ids = payload().u64(self.object()).u32(self.pid).u32(self.parent).u32(self.session).i32(status);
        let user = ids.u64(0x1_0000_0000 + u64::from(self.pid)).u32(0).wbem_sid64(5, self.user);
        let body = user.astr(self.name).wstr(self.command_line).wstr("").wstr("");
        let hook = 0x0300 | u16::from(opcode);
        let event = if opcode > 2 { perfinfo64(hook, time) } else { self.by_parent(hook, time) };
        event.version(4).payload(body)
    }

    /// Thread, version 3 with its name; opcodes as for processes.
    pub fn thread(&self, opcode: u8, thread: usize, time: i64) -> Kernel {
        let tid = self.tid(thread);
        let kernel_stack = 0xFFFF_F580_0000_0000 + 0x8000 * u64::from(tid);
        let user_stack = 0x00F0_0000_0000 + 0x10_0000 * u64::from(tid);
        let stacks = payload().u32(self.pid).u32(tid).u64(kernel_stack).u64(kernel_stack - 0x6000);
        let stacks = stacks.u64(user_stack).u64(user_stack - 0x8000);
        let start = stacks.u64(0x0F).u64(self.base(0) + 0x1450).u64(user_stack + 0x2000).u32(0);
        let body = start.u8(8).u8(5).u8(2).u8(0).wstr(self.threads[thread]);
        self.by_itself(0x0500 | u16::from(opcode), time).version(3).payload(body)
    }

    /// Image, version 3: load 0A (of the Process group), unload 02, loaded at the start 03, at the end 04.
    pub fn image(&self, opcode: u8, image: usize, time: i64) -> Kernel {
        let base = self.base(image);
        let sizes = payload().u64(base).u64(0x4_2000 + 0x1_0000 * image as u64).u32(self.pid).u32(0x0004_8D21);
        let signed = sizes.u32(0x65A1_B2C3).u8(4).u8(1).u16(0).u64(base).zeros(16);
        let group = if opcode == 0x0A { 0x0300 } else { 0x1400 };
        let path = format!("\\Device\\HarddiskVolume3{}", self.images[image]);
        self.by_itself(group | u16::from(opcode), time).version(3).payload(signed.wstr(&path))
    }

    fn object(&self) -> u64 {
        0xFFFF_9A04_0000_0080 + 0x1000 * u64::from(self.pid)
    }

    fn base(&self, image: usize) -> u64 {
        0x7FF6_0000_0000 + 0x1_0000_0000 * image as u64 + 0x10_0000 * u64::from(self.pid)
    }

    fn by_parent(&self, hook: u16, time: i64) -> Kernel {
        system64(hook, time).pid(self.parent).tid(self.parent + 4)
    }

    fn by_itself(&self, hook: u16, time: i64) -> Kernel {
        system64(hook, time).pid(self.pid).tid(self.tid(0)).kernel_time(2).user_time(1)
    }
}

/// `CSwitch`, version 4, from one thread to another.
pub fn context_switch(time: i64, old: u32, new: u32, waited: u32) -> Kernel {
    let idle_state = u8::from(old == 0);
    let priorities = payload().u32(new).u32(old).i8(if new == 0 { 0 } else { 9 }).i8(if old == 0 { 0 } else { 8 });
    let body = priorities.u8(idle_state).i8(0).i8(6).i8(1).i8(5).i8(2).u32(waited).u32(0);
    perfinfo64(0x0524, time).version(4).payload(body)
}

/// `SampledProfile`, version 2.
pub fn sample(time: i64, address: u64, thread: u32) -> Kernel {
    perfinfo64(0x0F2E, time).payload(payload().u64(address).u32(thread).u16(1).u16(0x48))
}

/// A request to the disk.
pub struct DiskRequest {
    pub write: bool,
    pub thread: u32,
    pub process: u32,
}

impl DiskRequest {
    /// `ReadInit` or `WriteInit`, version 3.
    pub fn start(&self, time: i64, irp: u64) -> Kernel {
        let event = system64(if self.write { 0x010D } else { 0x010C }, time).pid(self.process).tid(self.thread);
        event.version(3).payload(payload().u64(irp).u32(self.thread))
    }

    /// Read or Write, version 3, `ticks` after its start.
    pub fn end(&self, time: i64, irp: u64, bytes: u32, offset: u64, ticks: u64) -> Kernel {
        let request = payload().u32(0).u32(0x0006_0043).u32(bytes).u32(0).u64(offset);
        let body = request.u64(0xFFFF_C184_0000_10A0).u64(irp).u64(ticks).u32(self.thread);
        perfinfo64(if self.write { 0x010B } else { 0x010A }, time).version(3).payload(body)
    }
}
