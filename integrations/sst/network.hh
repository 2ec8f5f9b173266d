/* hopsim as a network of SST: a component that is the whole network, and the interface of an endpoint to it. */
#ifndef HOPSIM_SST_NETWORK_HH
#define HOPSIM_SST_NETWORK_HH

#include <cstdint>
#include <deque>
#include <hopsim.h>
#include <memory>
#include <queue>
#include <sst/core/component.h>
#include <sst/core/event.h>
#include <sst/core/interfaces/simpleNetwork.h>
#include <sst/core/link.h>
#include <sst/core/subcomponent.h>
#include <sst/core/unitAlgebra.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace hopsim_sst {

using SST::Interfaces::SimpleNetwork;

/* What goes over the link between an endpoint and the network. */
class LinkEvent : public SST::Event {
  public:
    enum Kind : uint8_t {
        REQUEST, /* a request on its way, in both directions */
        ROOM,    /* from the network: so many bits of the endpoint's buffer are free again */
        GREETING /* from the network: the number of the endpoint, and bits per second of its link */
    };

    LinkEvent() = default;
    LinkEvent(Kind kind, uint64_t number, int vn, SimpleNetwork::Request *request = nullptr)
        : kind(kind), number(number), vn(vn), request(request) {}
    ~LinkEvent() override { delete request; }

    /* The request, which from then on is the caller's. */
    SimpleNetwork::Request *take() {
        SimpleNetwork::Request *taken = request;
        request = nullptr;
        return taken;
    }

    void serialize_order(SST::Core::Serialization::serializer &ser) override {
        Event::serialize_order(ser);
        SST_SER(kind);
        SST_SER(number);
        SST_SER(vn);
        SST_SER(rate);
        SST_SER(request);
    }

    Kind kind = REQUEST;
    uint64_t number = 0; /* bits of a ROOM, the endpoint of a GREETING */
    int vn = 0;
    double rate = 0; /* bits per second of a GREETING */
    SimpleNetwork::Request *request = nullptr;

    ImplementSerializable(hopsim_sst::LinkEvent);
};

/* The network: a hopsim document, whose nodes of program = "external" are the endpoints, in their order there. */
class Network : public SST::Component {
  public:
    SST_ELI_REGISTER_COMPONENT(Network, "hopsim", "network", SST_ELI_ELEMENT_VERSION(0, 1, 0),
                               "A lossless interconnection network, simulated by hopsim", COMPONENT_CATEGORY_NETWORK)

    SST_ELI_DOCUMENT_PARAMS({"document", "Path of the hopsim document", ""},
                            {"threads", "Threads that simulate the network: no result depends on it", "1"},
                            {"results", "File for what hopsim has measured, JSON; none if empty", ""})

    SST_ELI_DOCUMENT_PORTS({"port%d", "Port of an endpoint", {"hopsim_sst.LinkEvent"}})

    Network(SST::ComponentId_t id, SST::Params &params);

    void init(unsigned phase) override;
    void finish() override;

  private:
    struct Free {
        void operator()(hopsim_simulation *simulation) const { hopsim_free(simulation); }
    };

    /* A request that is in the network, and what it had when it was sent. */
    struct UnderWay {
        SimpleNetwork::Request *request;
        int vn;
    };

    /* A message that has taken room in the buffer of its endpoint. */
    struct Queued {
        uint64_t bits;
        int vn;
    };

    void check(hopsim_status status) const;
    void set_clock();
    uint64_t cycle_now() const;
    double rate() const;
    bool tick(SST::Cycle_t cycle);
    void handle(SST::Event *event, int from);
    void inject(SimpleNetwork::Request *request, int vn, int from);
    void deliver();
    void give_room();
    SST::Link *port(SimpleNetwork::nid_t endpoint) const;

    std::unique_ptr<hopsim_simulation, Free> simulation;
    std::vector<uint32_t> nodes;
    std::vector<SST::Link *> ports; /* NULL where no endpoint is connected */
    std::vector<std::deque<Queued>> queued;
    std::unordered_map<uint64_t, UnderWay> under_way;
    std::string results;
    SST::TimeConverter period;
    SST::Clock::HandlerBase *clock = nullptr;
    bool is_asleep = false;
    uint64_t sent = 0;
};

/* What an endpoint loads in the slot for its network interface. The port has the name that merlin gives it. */
class Endpoint : public SimpleNetwork {
  public:
    SST_ELI_REGISTER_SUBCOMPONENT(Endpoint, "hopsim", "endpoint", SST_ELI_ELEMENT_VERSION(0, 1, 0),
                                  "Interface of an endpoint to hopsim.network", SST::Interfaces::SimpleNetwork)

    SST_ELI_DOCUMENT_PARAMS({"output_buf_size", "Room for requests that wait at the endpoint, for each virtual network", "1kB"},
                            {"port_name", "Port to the network; only where the interface is loaded anonymously", ""})

    SST_ELI_DOCUMENT_PORTS({"rtr_port", "Port to hopsim.network", {"hopsim_sst.LinkEvent"}})

    Endpoint(SST::ComponentId_t id, SST::Params &params, int vns);
    ~Endpoint() override;

    void init(unsigned phase) override;
    void sendUntimedData(Request *request) override;
    Request *recvUntimedData() override;
    bool send(Request *request, int vn) override;
    Request *recv(int vn) override;
    bool spaceToSend(int vn, int bits) override;
    bool requestToReceive(int vn) override { return !received.at(vn).empty(); }
    void setNotifyOnReceive(HandlerBase *functor) override { on_receive = functor; }
    void setNotifyOnSend(HandlerBase *functor) override { on_send = functor; }
    bool isNetworkInitialized() const override { return has_greeting; }
    nid_t getEndpointID() const override { return number; }
    const SST::UnitAlgebra &getLinkBW() const override { return bandwidth; }

  private:
    void handle(SST::Event *event);
    static void notify(HandlerBase *&functor, int vn);

    SST::Link *link;
    uint64_t room; /* bits of the buffer of a virtual network */
    std::vector<uint64_t> taken;
    std::vector<std::queue<Request *>> received;
    std::queue<Request *> untimed;
    HandlerBase *on_receive = nullptr; /* these are the caller's */
    HandlerBase *on_send = nullptr;
    bool has_greeting = false;
    nid_t number = -1;
    SST::UnitAlgebra bandwidth;
};

} // namespace hopsim_sst

#endif
