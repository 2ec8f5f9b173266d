/* An endpoint for tests: it sends what its parameter says, when it says so, and prints what it receives. */
#include <sst/core/sst_config.h>

#include <deque>
#include <sst/core/component.h>
#include <sst/core/interfaces/simpleNetwork.h>
#include <sst/core/link.h>
#include <vector>

namespace hopsim_sst_test {

using SST::Interfaces::SimpleNetwork;

class Wake : public SST::Event {
    ImplementSerializable(hopsim_sst_test::Wake);
};

class Exchange : public SST::Component {
  public:
    SST_ELI_REGISTER_COMPONENT(Exchange, "hopsimtest", "exchange", SST_ELI_ELEMENT_VERSION(0, 1, 0),
                               "Sends and prints requests", COMPONENT_CATEGORY_UNCATEGORIZED)
    SST_ELI_DOCUMENT_PARAMS({"sends", "Four numbers a request: time [ps], destination, bits, virtual network", "[]"},
                            {"expected", "Requests that will come", "0"})
    SST_ELI_DOCUMENT_PORTS()
    SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"networkIF", "The interface to the network", "SST::Interfaces::SimpleNetwork"})

    Exchange(SST::ComponentId_t id, SST::Params &params) : Component(id), expected(params.find<int>("expected", 0)) {
        std::vector<int64_t> numbers;
        params.find_array<int64_t>("sends", numbers);
        for (size_t at = 0; at + 3 < numbers.size(); at += 4)
            sends.push_back({numbers[at], numbers[at + 1], numbers[at + 2], static_cast<int>(numbers[at + 3])});
        network = loadUserSubComponent<SimpleNetwork>("networkIF", SST::ComponentInfo::SHARE_NONE, 2);
        network->setNotifyOnReceive(new SimpleNetwork::Handler<Exchange, &Exchange::receive>(this));
        network->setNotifyOnSend(new SimpleNetwork::Handler<Exchange, &Exchange::resume>(this));
        timer = configureSelfLink("timer", "1ps", new SST::Event::Handler<Exchange, &Exchange::wake>(this));
        registerAsPrimaryComponent();
        primaryComponentDoNotEndSim();
    }

    void init(unsigned phase) override {
        network->init(phase);
        if (phase == 1 && network->getEndpointID() == 0)
            network->sendUntimedData(new SimpleNetwork::Request(SimpleNetwork::INIT_BROADCAST_ADDR, 0, 8, true, true));
        while (SimpleNetwork::Request *request = network->recvUntimedData()) {
            greeted += request->src == 0;
            delete request;
        }
    }

    void setup() override {
        network->setup();
        for (const Send &send : sends) timer->send(send.time, new Wake);
        out.output("endpoint %lld of %s, greeted %d\n", (long long)network->getEndpointID(),
                   network->getLinkBW().toStringBestSI().c_str(), greeted);
        end();
    }

  private:
    struct Send {
        int64_t time, to, bits;
        int vn;
    };

    void wake(SST::Event *event) {
        delete event;
        ++due;
        resume(0);
    }

    /* Sends what is due as long as there is room. */
    bool resume(int) {
        while (due > 0 && network->spaceToSend(sends.front().vn, static_cast<int>(sends.front().bits))) {
            const Send send = sends.front();
            sends.pop_front();
            --due;
            network->send(new SimpleNetwork::Request(send.to, -1, send.bits, true, true), send.vn);
        }
        return true;
    }

    bool receive(int vn) {
        while (SimpleNetwork::Request *request = network->recv(vn)) {
            out.output("%llu ps: %zu bits from %lld to %lld on %d\n", (unsigned long long)getCurrentSimTime("1ps"),
                       request->size_in_bits, (long long)request->src, (long long)network->getEndpointID(), vn);
            delete request;
            --expected;
        }
        end();
        return true;
    }

    void end() {
        if (expected == 0) primaryComponentOKToEndSim();
    }

    int expected;
    int greeted = 0;
    int due = 0;
    std::deque<Send> sends;
    SimpleNetwork *network;
    SST::Link *timer;
    SST::Output out{"", 0, 0, SST::Output::STDOUT};
};

} // namespace hopsim_sst_test
