#include "network.hh"

#include <algorithm>

namespace hopsim_astra {

namespace {

/* Steps of the network while no rank has an event: deliveries end them earlier. */
constexpr uint64_t LONG_STEP = 100'000;

constexpr uint64_t PICOSECONDS = 1'000;

void check(hopsim_status status) {
    if (status != HOPSIM_OK) throw Failure(hopsim_last_error());
}

/* Nanoseconds of a time of ASTRA-sim. */
uint64_t nanoseconds(AstraSim::timespec_t time) {
    if (time.time_res != AstraSim::NS || time.time_val < 0)
        throw Failure("a rank schedules an event in other units than nanoseconds, or in the past");
    return static_cast<uint64_t>(time.time_val);
}

} // namespace

Network::Network(const std::string &document, unsigned threads) {
    hopsim_simulation *made = nullptr;
    check(hopsim_new(document.c_str(), threads, &made));
    simulation.reset(made);
    nodes.resize(hopsim_nodes(made, nullptr, 0));
    hopsim_nodes(made, nodes.data(), nodes.size());
    cycle_of(0); // The document must have units: say so before anything is simulated.
}

/* The first cycle that begins at a time or later. */
uint64_t Network::cycle_of(uint64_t time) const {
    uint64_t cycle = 0;
    check(hopsim_cycles(simulation.get(), time * PICOSECONDS, &cycle));
    return cycle;
}

/* The first nanosecond in which a cycle has begun. */
uint64_t Network::time_of(uint64_t cycle) const {
    uint64_t picoseconds = 0;
    check(hopsim_picoseconds(simulation.get(), cycle, &picoseconds));
    return (picoseconds + PICOSECONDS - 1) / PICOSECONDS;
}

int Network::rank(int number) const {
    if (number < 0 || number >= ranks())
        throw Failure("there is no rank " + std::to_string(number) + "; valid: 0 ... " + std::to_string(ranks() - 1));
    return number;
}

void Network::schedule(uint64_t delay, Callback callback) { events.push({clock + delay, events_so_far++, callback}); }

void Network::send(int from, int to, int tag, uint64_t bytes, Callback callback) {
    const Message message{{rank(from), rank(to), tag, bytes}, callback};
    under_way.emplace(messages_so_far, message);
    if (from == to) { // It passes no link, and is there at once.
        arrive(message);
        under_way.erase(messages_so_far++);
        return;
    }
    uint32_t phits = 0;
    check(hopsim_phits(simulation.get(), bytes, &phits));
    check(hopsim_inject(simulation.get(), nodes[from], nodes[to], phits, messages_so_far++, nullptr));
}

void Network::receive(int from, int to, int tag, uint64_t bytes, Callback callback) {
    const Name name{rank(from), rank(to), tag, bytes};
    Meeting &meeting = meetings[name];
    if (meeting.arrived == 0) {
        meeting.receives.push_back(callback);
        return;
    }
    if (--meeting.arrived == 0) meetings.erase(name);
    schedule(0, callback);
}

/* A message is there: its send is done, and the receive that waits for it. */
void Network::arrive(const Message &message) {
    schedule(0, message.sent);
    Meeting &meeting = meetings[message.name];
    if (meeting.receives.empty()) {
        ++meeting.arrived;
        return;
    }
    schedule(0, meeting.receives.front());
    meeting.receives.pop_front();
    if (meeting.receives.empty()) meetings.erase(message.name);
}

/* Lets everything happen that is due by the present cycle. Returns whether there was anything. */
bool Network::run_due() {
    bool any = false;
    while (!events.empty() && cycle_of(events.top().time) <= hopsim_now(simulation.get())) {
        const Event event = events.top();
        events.pop();
        clock = event.time;
        event.callback();
        any = true;
    }
    return any;
}

/* Takes the messages that are there by the present cycle. Returns whether there were any. */
bool Network::deliver() {
    hopsim_message delivered;
    bool any = false;
    while (hopsim_delivered(simulation.get(), &delivered, 1) == 1) {
        clock = std::max(clock, time_of(hopsim_now(simulation.get())));
        const auto found = under_way.find(delivered.tag);
        const Message message = found->second;
        under_way.erase(found);
        arrive(message);
        any = true;
    }
    return any;
}

void Network::run() {
    for (;;) {
        const bool ran = run_due(), delivered = deliver();
        if (ran || delivered) continue;
        if (events.empty() && hopsim_in_flight(simulation.get()) == 0) return;
        const uint64_t now = hopsim_now(simulation.get());
        const uint64_t step = events.empty() ? LONG_STEP : cycle_of(events.top().time) - now;
        check(hopsim_step_until_delivered(simulation.get(), step));
    }
}

std::string Network::results() {
    check(hopsim_step(simulation.get(), 1)); // What is there in a cycle is measured from the next one on.
    const char *text = nullptr;
    check(hopsim_results(simulation.get(), &text));
    return text;
}

int NetworkApi::sim_send(void *, uint64_t count, int, int dst, int tag, AstraSim::sim_request *,
                         void (*msg_handler)(void *), void *fun_arg) {
    network.send(sim_comm_get_rank(), dst, tag, count, {msg_handler, fun_arg});
    return 0;
}

int NetworkApi::sim_recv(void *, uint64_t count, int, int src, int tag, AstraSim::sim_request *,
                         void (*msg_handler)(void *), void *fun_arg) {
    network.receive(src, sim_comm_get_rank(), tag, count, {msg_handler, fun_arg});
    return 0;
}

void NetworkApi::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) {
    network.schedule(nanoseconds(delta), {fun_ptr, fun_arg});
}

AstraSim::timespec_t NetworkApi::sim_get_time() { return {AstraSim::NS, static_cast<long double>(network.now())}; }

} // namespace hopsim_astra
