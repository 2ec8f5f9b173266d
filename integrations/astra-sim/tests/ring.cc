/* An all-gather round a ring of all ranks, as ASTRA-sim would do it, on the document in a file: ring FILE BYTES. Prints the time
 * in which the last rank has everything, and what else the network promises. */
#include "../network.hh"
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

using hopsim_astra::Failure;
using hopsim_astra::Network;
using hopsim_astra::NetworkApi;

namespace {

struct Rank {
    NetworkApi api;
    int ranks;
    uint64_t bytes;
    int received = 0;
    int sent = 0;

    Rank(Network &network, int number, uint64_t bytes)
        : api(network, number), ranks(network.ranks()), bytes(bytes) {}

    void send() {
        api.sim_send(nullptr, bytes, 0, (api.rank + 1) % ranks, received, nullptr, on_sent, this);
    }

    void receive() {
        api.sim_recv(nullptr, bytes, 0, (api.rank + ranks - 1) % ranks, received, nullptr, on_received, this);
    }

    static void on_sent(void *self) { ++static_cast<Rank *>(self)->sent; }

    static void on_received(void *self) {
        Rank &rank = *static_cast<Rank *>(self);
        if (++rank.received == rank.ranks - 1) return rank.api.sim_notify_finished();
        rank.send();
        rank.receive();
    }

    static void on_start(void *self) {
        static_cast<Rank *>(self)->send();
        static_cast<Rank *>(self)->receive();
    }
};

std::string contents(const char *path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void expect(bool holds, const char *what) {
    if (!holds) throw Failure(std::string("not so: ") + what);
}

/* The time in which the last rank has everything. */
uint64_t gathered(const std::string &document, uint64_t bytes) {
    Network network(document, 1);
    std::vector<std::unique_ptr<Rank>> ranks;
    for (int rank = 0; rank < network.ranks(); ++rank)
        ranks.push_back(std::make_unique<Rank>(network, rank, bytes));
    for (auto &rank : ranks) rank->api.sim_schedule({AstraSim::NS, 0}, Rank::on_start, rank.get());
    network.run();
    for (auto &rank : ranks) {
        expect(rank->api.has_finished(), "every rank has everything");
        expect(rank->sent == rank->ranks - 1, "every send is done once");
        expect(rank->api.sim_get_time().time_val == network.now(), "ranks have one clock");
    }
    return network.now();
}

std::vector<int> order;

void first(void *) { order.push_back(1); }
void second(void *) { order.push_back(2); }
void third(void *) { order.push_back(3); }

/* What happens at the same time happens in the order of the calls; a receive may be called after its message has come, a message may be
 * for its own rank, and messages of a tag meet receives in their order. */
void check_order(const std::string &document) {
    Network network(document, 1);
    network.schedule(20, {third, nullptr});
    network.schedule(10, {first, nullptr});
    network.schedule(10, {second, nullptr});
    network.run();
    expect(order == std::vector<int>{1, 2, 3} && network.now() == 20, "events happen in time, then in order");
    order.clear();
    network.send(0, 1, 7, 4000, {first, nullptr});
    network.run();
    expect(order == std::vector<int>{1} && network.now() > 20, "a send is done when its message is there");
    const uint64_t there = network.now();
    network.receive(0, 1, 7, 4000, {second, nullptr});
    network.receive(0, 1, 7, 4000, {third, nullptr});
    network.run();
    expect(order == std::vector<int>{1, 2} && network.now() == there, "a late receive is done at once");
    network.send(0, 1, 7, 4000, {nullptr, nullptr});
    network.send(1, 1, 7, 4000, {first, nullptr});
    network.receive(1, 1, 7, 4000, {second, nullptr});
    network.run();
    expect(order == std::vector<int>{1, 2, 1, 2, 3}, "a rank may send to itself, and the second receive has its message");
    order.clear();
    network.receive(2, 3, 1, 4000, {first, nullptr});
    network.receive(2, 3, 1, 4000, {second, nullptr});
    network.send(2, 3, 1, 4000, {nullptr, nullptr});
    network.run();
    expect(order == std::vector<int>{1}, "of receives that wait the first has the message");
    expect(network.results().find("\"messages\":3,") != std::string::npos, "three messages passed the network");
}

/* What a call says that is refused. */
template <typename Call> std::string refused(Call call) {
    try {
        call();
    } catch (const Failure &failure) {
        return failure.what();
    }
    throw Failure("not refused");
}

void check_refusals(const std::string &document) {
    Network network(document, 1);
    NetworkApi api(network, 0);
    const auto contains = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
    const auto without_units = [&] { Network other("topology.ring.routers = 4\n[[jobs]]\nprogram = \"external\"\n", 1); };
    expect(contains(refused(without_units), "units: the document does not say"), "units are asked for");
    const auto to_nobody = [&] { api.sim_send(nullptr, 1, 0, 4096, 0, nullptr, first, nullptr); };
    expect(contains(refused(to_nobody), "there is no rank 4096; valid: 0 ... "), "ranks are checked");
    const auto in_seconds = [&] { api.sim_schedule({AstraSim::SE, 1}, first, nullptr); };
    expect(contains(refused(in_seconds), "other units than nanoseconds"), "times are nanoseconds");
    const auto nothing = [] { Network other("", 1); };
    expect(!refused(nothing).empty(), "a document is refused with its reason");
}

} // namespace

int main(int arguments, char **argument) {
    if (arguments != 3) return 2;
    try {
        const std::string document = contents(argument[1]);
        check_order(document);
        check_refusals(document);
        std::cout << gathered(document, std::strtoull(argument[2], nullptr, 10)) << '\n';
    } catch (const Failure &failure) {
        std::cerr << failure.what() << '\n';
        return 1;
    }
    return 0;
}
