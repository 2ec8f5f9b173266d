//! Messages: who receives them, and how they travel.

use crate::simulator::Simulator;
use crate::state::packet::Role;
use crate::state::program::Rank;
use crate::state::program::message::{Kind, Message, Parcel, fits, lengths};
use crate::state::program::operations::{State, Work};
use hopsim_cycles::choices::InjectionLink;
use hopsim_programs::host::rules::SendCompletes;
use hopsim_programs::job::ProgramPlan;

impl Simulator<'_> {
    fn program(&self, node: usize) -> &ProgramPlan {
        let job = self.ranks[node].as_ref().and_then(|rank| self.plan.system.jobs[rank.job].program());
        job.expect("the node runs a program")
    }

    /// Gives the message of a send, which has started, away.
    pub(super) fn issue(&mut self, node: usize, operation: usize) {
        let now = self.now;
        let rank = self.rank(node);
        let Work::Send { to, tag, communicator, bytes } = rank.operations[operation].work else {
            unreachable!("it is a send")
        };
        let (job, own, number) = (rank.job, rank.number, rank.numbers);
        rank.numbers += 1;
        if to != own {
            rank.told.sent.push(bytes);
        }
        let rules = &self.program(node).rules;
        let message = Message {
            job,
            source: (own, operation),
            to,
            tag,
            communicator,
            bytes,
            number,
            phits: lengths(rules, bytes).into_iter().map(u64::from).sum(),
            joined: now,
            left: None,
            arrived: None,
            announced: None,
            matched: None,
            receive: None,
        };
        self.messages.push(message);
        let message = self.messages.len() - 1;
        let rules = &self.program(node).rules;
        let (limit, completes) = (rules.eager_limit, rules.send_completes);
        if to == own {
            self.announce(node, message);
            self.reach(node, operation, State::Done);
        } else if limit.is_some_and(|limit| bytes > limit) {
            self.join_queue(node, (Kind::Request, message), (to, number));
        } else {
            self.join_queue(node, (Kind::Eager, message), (to, number));
            if completes == SendCompletes::Buffered {
                self.reach(node, operation, State::Done);
            }
        }
    }

    /// Lets a parcel for rank `to` with its number join the queue of a node.
    fn join_queue(&mut self, node: usize, (kind, message): (Kind, usize), (to, number): (u32, u32)) {
        let program = self.program(node);
        let carries = matches!(kind, Kind::Eager | Kind::Data);
        let lengths = lengths(&program.rules, if carries { self.messages[message].bytes } else { 0 });
        let to = program.nodes[to as usize] as usize;
        let source = (self.rank(node).number, number);
        let (packets, joined) = (Vec::new(), self.now);
        self.parcels.push(Parcel { kind, message, source, to, joined, lengths, packets, there: false });
        let parcel = self.parcels.len() - 1;
        self.rank(node).queue.push_back(parcel);
        self.rank(to).coming.push(parcel);
    }

    /// Lets a receive take the first announced message that fits, or wait for one.
    pub(super) fn post(&mut self, node: usize, operation: usize) {
        let Self { ranks, messages, .. } = self;
        let rank = ranks[node].as_mut().expect("the node runs a program");
        let work = &rank.operations[operation].work;
        match rank.announced.iter().position(|&message| fits(work, &messages[message])) {
            Some(place) => {
                let message = rank.announced.remove(place);
                self.take(node, operation, message);
            }
            None => rank.posted.push(operation),
        }
    }

    /// Lets the first posted receive that fits take a message, or the message wait for one.
    fn announce(&mut self, node: usize, message: usize) {
        self.messages[message].announced = Some(self.now);
        let Self { ranks, messages, .. } = self;
        let rank = ranks[node].as_mut().expect("the node runs a program");
        let takes = |&operation: &usize| fits(&rank.operations[operation].work, &messages[message]);
        match rank.posted.iter().position(takes) {
            Some(place) => {
                let operation = rank.posted.remove(place);
                self.take(node, operation, message);
            }
            None => rank.announced.push(message),
        }
    }

    /// Notes that a receive has got its message: it is there, or may be sent now.
    fn take(&mut self, node: usize, operation: usize, message: usize) {
        let limit = self.program(node).rules.eager_limit;
        let now = self.now;
        let Message { source: (source, _), bytes, .. } = self.messages[message];
        self.messages[message].receive = Some(operation);
        self.messages[message].matched = Some(now);
        let rank = self.rank(node);
        if source != rank.number && limit.is_some_and(|limit| bytes > limit) {
            let number = rank.numbers;
            rank.numbers += 1;
            self.join_queue(node, (Kind::Clear, message), (source, number));
        } else {
            rank.waiting.push((now, operation));
        }
    }

    /// Handles the parcels whose last phit is there, but none that is announced before one of the same key sent earlier.
    pub(super) fn receive_parcels(&mut self, node: usize) {
        let coming = self.rank(node).coming.clone();
        for &parcel in &coming {
            self.parcels[parcel].there |= self.is_there(parcel);
        }
        let mut handled: Vec<usize> = coming.iter().copied().filter(|&p| self.is_due(p, &coming)).collect();
        handled.sort_by_key(|&parcel| self.parcels[parcel].source);
        self.rank(node).coming.retain(|parcel| !handled.contains(parcel));
        for parcel in handled {
            let Parcel { kind, message, .. } = self.parcels[parcel];
            match kind {
                Kind::Eager | Kind::Request => self.announce(node, message),
                Kind::Clear => self.send_data(node, parcel),
                Kind::Data => {
                    let receive = self.messages[message].receive.expect("it has been asked for");
                    let waiting = (self.now, receive);
                    self.rank(node).waiting.push(waiting);
                }
            }
        }
    }

    /// Whether the last phit of a parcel gets to its node in this cycle; if so, this is noted of its message.
    fn is_there(&mut self, parcel: usize) -> bool {
        let Parcel { kind, message, ref lengths, ref packets, to, .. } = self.parcels[parcel];
        let end =
            |&packet: &usize| self.packets[packet].trace.delivered.map(|d| d + self.packets[packet].length);
        let ends: Option<Vec<u32>> = packets.iter().map(end).collect();
        let last = ends.filter(|_| lengths.is_empty()).and_then(|ends| ends.into_iter().max());
        if last != Some(self.now) {
            return false;
        }
        let Message { bytes, joined, .. } = self.messages[message];
        if matches!(kind, Kind::Eager | Kind::Data) {
            self.messages[message].arrived = Some(self.now);
            let latency = self.now - joined;
            self.rank(to).told.received.push((bytes, latency));
        }
        true
    }

    /// Whether a parcel among those that come to a node is there and may be handled.
    fn is_due(&self, parcel: usize, coming: &[usize]) -> bool {
        let announces = |parcel: usize| matches!(self.parcels[parcel].kind, Kind::Eager | Kind::Request);
        let key = |parcel: usize| {
            let message = &self.messages[self.parcels[parcel].message];
            (message.source.0, message.tag, message.communicator)
        };
        let precedes = |&other: &usize| {
            let earlier = self.parcels[other].source.1 < self.parcels[parcel].source.1;
            announces(other) && key(other) == key(parcel) && earlier && !self.parcels[other].there
        };
        self.parcels[parcel].there && !(announces(parcel) && coming.iter().any(precedes))
    }

    /// Sends a message for which leave has come.
    fn send_data(&mut self, node: usize, clear: usize) {
        let message = self.parcels[clear].message;
        let (number, (to, _)) = (self.messages[message].number, self.parcels[clear].source);
        self.join_queue(node, (Kind::Data, message), (to, number));
    }

    /// Admits packets that have come back, then makes and admits packets of the first parcels, as long as there is room and the gap between messages allows it.
    pub(super) fn admit_parcels(&mut self, node: usize) {
        loop {
            while self.nics[node].queue.front().is_some_and(|&first| self.packets[first].resendings > 0) {
                if !self.admit(node) {
                    return;
                }
            }
            let Some(&parcel) = self.rank(node).queue.front() else { return };
            if self.parcels[parcel].packets.is_empty() && !self.may_begin(node) {
                return;
            }
            if self.nics[node].queue.is_empty() {
                self.make_packet(node, parcel);
            }
            if !self.admit(node) {
                return;
            }
            self.count_admitted(node, parcel);
        }
    }

    /// Whether the gap behind the beginning of the last parcel is over.
    fn may_begin(&self, node: usize) -> bool {
        let began = self.ranks[node].as_ref().and_then(|rank| rank.began);
        began.is_none_or(|began| self.now >= began + self.program(node).rules.gap)
    }

    /// Makes the next packet of a parcel, which is the only one in the queue of its network interface.
    fn make_packet(&mut self, node: usize, parcel: usize) {
        let Parcel { to, joined, ref mut lengths, .. } = self.parcels[parcel];
        let length = lengths.pop_front().expect("it has packets left");
        let packet = self.new_packet(node, to as u32, Role::OneWay, length);
        self.packets[packet].trace.generated = self.enters_interface(node, joined);
        self.nics[node].queue.push_back(packet);
        self.parcels[parcel].packets.push(packet);
    }

    /// When a packet of a message that joined at `joined` enters the network interface: as soon as fewer packets than that holds have
    /// joined before it and are not admitted.
    fn enters_interface(&mut self, node: usize, joined: u32) -> u32 {
        let most = self.program(node).rules.nic_queue;
        let left = &self.rank(node).admissions;
        let mut entered = joined;
        while left.iter().filter(|&&at| at > entered).count() >= most {
            entered += 1;
        }
        entered
    }

    /// Notes that the last packet made of a parcel has been admitted.
    fn count_admitted(&mut self, node: usize, parcel: usize) {
        let now = self.now;
        let unlimited = self.plan.system.nic.injection_link == InjectionLink::Unlimited;
        let completes = self.program(node).rules.send_completes;
        let Parcel { kind, message, ref lengths, ref packets, .. } = self.parcels[parcel];
        let (is_first, is_last) = (packets.len() == 1, lengths.is_empty());
        let length = packets.last().map_or(0, |&packet| self.packets[packet].length);
        let send = self.messages[message].source.1;
        let leaves = if unlimited { now } else { now + length };
        if is_last && matches!(kind, Kind::Eager | Kind::Data) {
            self.messages[message].left = Some(leaves);
        }
        let rank: &mut Rank = self.rank(node);
        rank.admissions.push(now);
        if is_first {
            rank.began = Some(now);
        }
        if is_last {
            rank.queue.pop_front();
            let waits = match kind {
                Kind::Eager => completes == SendCompletes::Injected,
                Kind::Data => true,
                Kind::Request | Kind::Clear => false,
            };
            if waits {
                rank.leaving.push((leaves, send));
            }
        }
    }
}
