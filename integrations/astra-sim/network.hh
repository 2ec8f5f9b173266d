/* The network of ASTRA-sim, simulated by hopsim: what all ranks share, and the interface of a rank. */
#ifndef HOPSIM_ASTRA_SIM_NETWORK_HH
#define HOPSIM_ASTRA_SIM_NETWORK_HH

#include "astra-sim/common/AstraNetworkAPI.hh"
#include <cstdint>
#include <deque>
#include <hopsim.h>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace hopsim_astra {

/* Why a simulation cannot begin or go on. */
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* What ASTRA-sim wants to be called at some time. */
struct Callback {
    void (*function)(void *) = nullptr;
    void *argument = nullptr;

    void operator()() const {
        if (function) function(argument);
    }
};

/* The network with its clock, and the events of all ranks. Ranks are the nodes that the document leaves to another simulator
 * (program = "external"), in their order there. */
class Network {
  public:
    /* A network at time 0. The document is TOML text with `units`; no result depends on the number of threads. */
    Network(const std::string &document, unsigned threads);

    /* Number of ranks. */
    int ranks() const { return static_cast<int>(nodes.size()); }

    /* The present time [ns]. */
    uint64_t now() const { return clock; }

    /* Something happens so many nanoseconds from now; what is to happen at the same time happens in the order of the calls. */
    void schedule(uint64_t delay, Callback callback);

    /* Messages of a source, a destination, a tag and a size meet the receives of these in the order of the calls. The send is done when
     * the last phit is at the destination, and so is the receive, unless it is called later. */
    void send(int from, int to, int tag, uint64_t bytes, Callback callback);
    void receive(int from, int to, int tag, uint64_t bytes, Callback callback);

    /* Simulates until nothing is left to do. */
    void run();

    /* What hopsim has measured, as JSON; ends the simulation. */
    std::string results();

  private:
    using Name = std::tuple<int, int, int, uint64_t>; /* from, to, tag, bytes */

    /* Messages and receives of a name that have not met. */
    struct Meeting {
        std::deque<Callback> receives;
        uint64_t arrived = 0;
    };

    struct Message {
        Name name;
        Callback sent;
    };

    struct Event {
        uint64_t time;
        uint64_t number;
        Callback callback;

        bool operator>(const Event &other) const {
            return std::tie(time, number) > std::tie(other.time, other.number);
        }
    };

    struct Free {
        void operator()(hopsim_simulation *simulation) const { hopsim_free(simulation); }
    };

    uint64_t cycle_of(uint64_t time) const;
    uint64_t time_of(uint64_t cycle) const;
    int rank(int number) const;
    bool run_due();
    bool deliver();
    void arrive(const Message &message);

    std::unique_ptr<hopsim_simulation, Free> simulation;
    std::vector<uint32_t> nodes;
    uint64_t clock = 0;
    uint64_t events_so_far = 0;
    uint64_t messages_so_far = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    std::unordered_map<uint64_t, Message> under_way;
    std::map<Name, Meeting> meetings;
};

/* What a rank of ASTRA-sim sees of the network. */
class NetworkApi : public AstraSim::AstraNetworkAPI {
  public:
    NetworkApi(Network &network, int rank) : AstraNetworkAPI(rank), network(network) {}

    int sim_send(void *buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    int sim_recv(void *buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    void sim_notify_finished() override { finished = true; }

    /* Whether the workload of the rank has ended. */
    bool has_finished() const { return finished; }

  private:
    Network &network;
    bool finished = false;
};

} // namespace hopsim_astra

#endif
