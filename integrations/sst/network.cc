#include <sst/core/sst_config.h>

#include "network.hh"

#include <fstream>
#include <sstream>

namespace hopsim_sst {

namespace {

constexpr int NO_NETWORK = 1;

std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : std::string();
}

} // namespace

Network::Network(SST::ComponentId_t id, SST::Params &params) : Component(id) {
    const std::string path = params.find<std::string>("document");
    const std::string document = contents(path);
    if (document.empty()) fatal(CALL_INFO, NO_NETWORK, "document = \"%s\": cannot be read\n", path.c_str());
    results = params.find<std::string>("results");
    hopsim_simulation *made = nullptr;
    check(hopsim_new(document.c_str(), params.find<uint32_t>("threads", 1), &made));
    simulation.reset(made);
    nodes.resize(hopsim_nodes(made, nullptr, 0));
    hopsim_nodes(made, nodes.data(), nodes.size());
    queued.resize(nodes.size());
    for (size_t number = 0; number < nodes.size(); ++number) {
        auto *handler = new SST::Event::Handler<Network, &Network::handle, int>(this, static_cast<int>(number));
        ports.push_back(configureLink("port" + std::to_string(number), handler));
    }
    set_clock();
}

/* Ends the simulation where a call of hopsim was refused, or cannot go on. */
void Network::check(hopsim_status status) const {
    if (status != HOPSIM_OK) fatal(CALL_INFO, NO_NETWORK, "%s\n", hopsim_last_error());
}

/* A tick for every cycle of the network, which must have a whole number of picoseconds. */
void Network::set_clock() {
    constexpr uint64_t MANY = 1'000'000;
    uint64_t one = 0, many = 0;
    check(hopsim_picoseconds(simulation.get(), 1, &one));
    check(hopsim_picoseconds(simulation.get(), MANY, &many));
    if (one == 0 || many != MANY * one)
        fatal(CALL_INFO, NO_NETWORK, "units.cycle: valid for SST: a whole number of picoseconds\n");
    period = getTimeConverter(std::to_string(one) + "ps");
    clock = new SST::Clock::Handler<Network, &Network::tick>(this);
    registerClock(period, clock);
}

/* The first cycle that begins now or later. */
uint64_t Network::cycle_now() const {
    uint64_t cycle = 0;
    check(hopsim_cycles(simulation.get(), getCurrentSimTime("1ps"), &cycle));
    return cycle;
}

SST::Link *Network::port(SimpleNetwork::nid_t endpoint) const {
    SST::Link *link = endpoint >= 0 && endpoint < static_cast<int64_t>(ports.size()) ? ports[endpoint] : nullptr;
    if (link == nullptr)
        fatal(CALL_INFO, NO_NETWORK, "a request is for endpoint %lld, which is not connected; valid: 0 ... %zu\n",
              static_cast<long long>(endpoint), ports.size() - 1);
    return link;
}

/* Bits per second of the link of a node, which carries a phit in a cycle. */
double Network::rate() const {
    constexpr uint64_t GIGABYTE = 1'000'000'000;
    uint64_t cycle = 0;
    uint32_t phits = 0;
    check(hopsim_picoseconds(simulation.get(), 1, &cycle));
    check(hopsim_phits(simulation.get(), GIGABYTE, &phits));
    return 8e12 * static_cast<double>(GIGABYTE) / (static_cast<double>(phits) * static_cast<double>(cycle));
}

/* Says to endpoints who they are, and passes on what they send each other before the simulation begins. */
void Network::init(unsigned phase) {
    for (size_t from = 0; from < ports.size(); ++from) {
        if (ports[from] == nullptr) continue;
        if (phase == 0) {
            auto *greeting = new LinkEvent(LinkEvent::GREETING, from, 0);
            greeting->rate = rate();
            ports[from]->sendUntimedData(greeting);
        }
        while (auto *event = static_cast<LinkEvent *>(ports[from]->recvUntimedData())) {
            const SimpleNetwork::nid_t to = event->request->dest;
            if (to != SimpleNetwork::INIT_BROADCAST_ADDR) {
                port(to)->sendUntimedData(event);
                continue;
            }
            for (size_t each = 0; each < ports.size(); ++each)
                if (each != from && ports[each] != nullptr)
                    ports[each]->sendUntimedData(
                        new LinkEvent(LinkEvent::REQUEST, 0, event->vn, event->request->clone()));
            delete event;
        }
    }
}

/* The network goes on by a cycle. Returns whether it sleeps from now on: until a request comes. */
bool Network::tick(SST::Cycle_t) {
    const uint64_t now = cycle_now();
    const uint64_t before = hopsim_now(simulation.get());
    if (now > before) check(hopsim_step(simulation.get(), now - before));
    deliver();
    give_room();
    is_asleep = under_way.empty();
    return is_asleep;
}

/* A request comes from an endpoint, in the cycle that begins now or next. */
void Network::handle(SST::Event *event, int from) {
    auto *sent_event = static_cast<LinkEvent *>(event);
    SimpleNetwork::Request *request = sent_event->take();
    const int vn = sent_event->vn;
    delete sent_event;
    request->src = from;
    if (request->dest == from) { // It passes no link of the network.
        ports[from]->send(new LinkEvent(LinkEvent::ROOM, request->size_in_bits, vn));
        ports[from]->send(new LinkEvent(LinkEvent::REQUEST, 0, vn, request));
        return;
    }
    inject(request, vn, from);
}

void Network::inject(SimpleNetwork::Request *request, int vn, int from) {
    port(request->dest);
    const uint64_t now = cycle_now();
    const uint64_t before = hopsim_now(simulation.get());
    if (now > before) check(hopsim_step(simulation.get(), now - before));
    uint32_t phits = 0;
    check(hopsim_phits(simulation.get(), (request->size_in_bits + 7) / 8, &phits));
    check(hopsim_inject(simulation.get(), nodes[from], nodes[request->dest], phits, sent, nullptr));
    under_way.emplace(sent++, UnderWay{request, vn});
    queued[from].push_back({request->size_in_bits, vn});
    if (is_asleep) {
        is_asleep = false;
        reregisterClock(period, clock);
    }
}

/* Hands over the requests that are there by this cycle. */
void Network::deliver() {
    hopsim_message message;
    while (hopsim_delivered(simulation.get(), &message, 1) == 1) {
        const auto found = under_way.find(message.tag);
        const UnderWay arrived = found->second;
        under_way.erase(found);
        port(arrived.request->dest)->send(new LinkEvent(LinkEvent::REQUEST, 0, arrived.vn, arrived.request));
    }
}

/* The first messages of an endpoint leave room in its buffer when they no longer wait at their node. */
void Network::give_room() {
    for (size_t endpoint = 0; endpoint < queued.size(); ++endpoint) {
        auto &own = queued[endpoint];
        if (own.empty()) continue;
        size_t waiting = 0;
        check(hopsim_waiting(simulation.get(), nodes[endpoint], &waiting));
        for (; own.size() > waiting; own.pop_front())
            ports[endpoint]->send(new LinkEvent(LinkEvent::ROOM, own.front().bits, own.front().vn));
    }
}

void Network::finish() {
    for (const auto &[tag, left] : under_way) delete left.request;
    under_way.clear();
    if (results.empty() || hopsim_now(simulation.get()) == 0) return;
    check(hopsim_step(simulation.get(), 1)); // What is there in a cycle is measured from the next one on.
    const char *text = nullptr;
    check(hopsim_results(simulation.get(), &text));
    std::ofstream file(results);
    if (!(file << text << '\n')) fatal(CALL_INFO, NO_NETWORK, "results = \"%s\": cannot be written\n", results.c_str());
}

Endpoint::Endpoint(SST::ComponentId_t id, SST::Params &params, int vns)
    : SimpleNetwork(id), taken(vns, 0), received(vns) {
    SST::UnitAlgebra size = params.find<SST::UnitAlgebra>("output_buf_size", "1kB");
    if (!size.hasUnits("b") && !size.hasUnits("B"))
        fatal(CALL_INFO, NO_NETWORK, "output_buf_size = %s: valid: bits or bytes, such as 1kB\n",
              size.toStringBestSI().c_str());
    if (size.hasUnits("B")) size *= SST::UnitAlgebra("8b/B");
    room = size.getRoundedValue();
    if (params.find<bool>("use_nid_remap", false))
        fatal(CALL_INFO, NO_NETWORK, "use_nid_remap: hopsim has no table of endpoints; valid: placement.list in the document\n");
    const std::string name = isAnonymous() ? params.find<std::string>("port_name") : "rtr_port";
    link = configureLink(name, new SST::Event::Handler<Endpoint, &Endpoint::handle>(this));
    if (link == nullptr) fatal(CALL_INFO, NO_NETWORK, "port %s is not connected to hopsim.network\n", name.c_str());
}

Endpoint::~Endpoint() {
    for (auto &queue : received)
        for (; !queue.empty(); queue.pop()) delete queue.front();
    for (; !untimed.empty(); untimed.pop()) delete untimed.front();
}

void Endpoint::init(unsigned) {
    while (auto *event = static_cast<LinkEvent *>(link->recvUntimedData())) {
        if (event->kind == LinkEvent::GREETING) {
            number = static_cast<nid_t>(event->number);
            bandwidth = SST::UnitAlgebra(std::to_string(static_cast<uint64_t>(event->rate)) + "b/s");
            has_greeting = true;
        } else {
            untimed.push(event->take());
        }
        delete event;
    }
}

void Endpoint::sendUntimedData(Request *request) {
    request->src = number;
    link->sendUntimedData(new LinkEvent(LinkEvent::REQUEST, 0, request->vn, request));
}

SimpleNetwork::Request *Endpoint::recvUntimedData() {
    init(0); // What came since the last phase.
    if (untimed.empty()) return nullptr;
    Request *first = untimed.front();
    untimed.pop();
    return first;
}

bool Endpoint::spaceToSend(int vn, int bits) {
    if (static_cast<uint64_t>(bits) > room)
        fatal(CALL_INFO, NO_NETWORK, "a request of %d bits never fits into output_buf_size, %llu bits\n", bits,
              static_cast<unsigned long long>(room));
    return taken.at(vn) + bits <= room;
}

bool Endpoint::send(Request *request, int vn) {
    if (!spaceToSend(vn, static_cast<int>(request->size_in_bits))) return false;
    taken[vn] += request->size_in_bits;
    request->vn = vn;
    link->send(new LinkEvent(LinkEvent::REQUEST, 0, vn, request));
    return true;
}

SimpleNetwork::Request *Endpoint::recv(int vn) {
    auto &queue = received.at(vn);
    if (queue.empty()) return nullptr;
    Request *first = queue.front();
    queue.pop();
    return first;
}

/* Tells who uses the endpoint of something, and no longer if that one says so. */
void Endpoint::notify(HandlerBase *&functor, int vn) {
    HandlerBase *const told = functor; // While it is told it may put another one in its place.
    if (told != nullptr && !(*told)(vn) && functor == told) functor = nullptr;
}

void Endpoint::handle(SST::Event *event) {
    std::unique_ptr<LinkEvent> arrived(static_cast<LinkEvent *>(event));
    const int vn = arrived->vn;
    if (arrived->kind == LinkEvent::ROOM) {
        taken.at(vn) -= arrived->number;
        notify(on_send, vn);
        return;
    }
    received.at(vn).push(arrived->take());
    notify(on_receive, vn);
}

} // namespace hopsim_sst
