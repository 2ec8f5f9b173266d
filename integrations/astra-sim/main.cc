/* ASTRA-sim with hopsim as its network: the options of ASTRA-sim's other back ends, and those below. */
#include "network.hh"

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "common/CmdLineParser.hh"
#include <fstream>
#include <iostream>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>
#include <sstream>

namespace {

using AstraSim::Sys;
using AstraSimAnalytical::CmdLineParser;
using hopsim_astra::Failure;
using hopsim_astra::Network;
using hopsim_astra::NetworkApi;

std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!(text << file.rdbuf())) throw Failure("--network-configuration " + path + ": cannot be read");
    return text.str();
}

/* Ranks of every dimension of the logical topology, which is written as 4,8: one dimension where nothing is written. */
std::vector<int> dimensions(const std::string &given, int ranks) {
    if (given.empty()) return {ranks};
    std::vector<int> sizes;
    long product = 1;
    std::istringstream text(given);
    for (std::string size; std::getline(text, size, ',');) {
        const bool is_number = !size.empty() && size.size() < 7 && size.find_first_not_of("0123456789") == std::string::npos;
        sizes.push_back(is_number ? std::stoi(size) : 0);
        product = product > ranks ? product : product * sizes.back();
    }
    if (product != ranks)
        throw Failure("--logical-dims " + given + ": valid: numbers whose product is " + std::to_string(ranks) +
                      ", the nodes of program = \"external\" in the document, such as 2," + std::to_string(ranks / 2));
    return sizes;
}

CmdLineParser options(int argc, char **argv) {
    CmdLineParser parser(argv[0]);
    parser.get_options().add_options()(
        "logical-dims", "Ranks of every dimension of the logical topology, such as 4,8; one dimension if left out",
        cxxopts::value<std::string>()->default_value(""))(
        "threads", "Threads that simulate the network: no result depends on it",
        cxxopts::value<unsigned>()->default_value("1"))(
        "results", "File for what hopsim has measured, JSON", cxxopts::value<std::string>()->default_value(""));
    parser.parse(argc, argv);
    return parser;
}

/* Runs the workload. Returns how many ranks have not finished. */
int simulate(const CmdLineParser &option) {
    const auto text = [&](const char *name) { return option.get<std::string>(name); };
    Network network(contents(text("network-configuration")), option.get<unsigned>("threads"));
    const std::vector<int> sizes = dimensions(text("logical-dims"), network.ranks());
    const std::vector<int> queues(sizes.size(), option.get<int>("num-queues-per-dim"));
    Analytical::AnalyticalRemoteMemory memory(text("remote-memory-configuration"));

    std::vector<std::unique_ptr<NetworkApi>> networks;
    std::vector<std::unique_ptr<Sys>> systems;
    for (int rank = 0; rank < network.ranks(); ++rank) {
        networks.push_back(std::make_unique<NetworkApi>(network, rank));
        systems.push_back(std::make_unique<Sys>(
            rank, text("workload-configuration"), text("comm-group-configuration"), text("system-configuration"),
            &memory, networks.back().get(), sizes, queues, option.get<double>("injection-scale"),
            option.get<double>("comm-scale"), option.get<bool>("rendezvous-protocol")));
    }
    for (const auto &system : systems) system->workload->fire();
    network.run();
    if (!text("results").empty()) {
        std::ofstream file(text("results"));
        if (!(file << network.results() << '\n')) throw Failure("--results " + text("results") + ": cannot be written");
    }
    int waiting = 0;
    for (const auto &each : networks) waiting += !each->has_finished();
    return waiting;
}

} // namespace

int main(int argc, char **argv) {
    const CmdLineParser option = options(argc, argv);
    AstraSim::LoggerFactory::init(option.get<std::string>("logging-configuration"),
                                  option.get<std::string>("logging-folder"));
    int status = 0;
    try {
        if (const int waiting = simulate(option)) {
            std::cerr << waiting << " ranks have not finished, and nothing is left to happen: they wait for messages that"
                      << " nobody sends\n";
            status = 1;
        }
    } catch (const Failure &failure) {
        std::cerr << failure.what() << '\n';
        status = 2;
    }
    AstraSim::LoggerFactory::shutdown();
    return status;
}
