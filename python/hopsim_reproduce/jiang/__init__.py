"""The network on which Jiang et al. compare BookSim with routers in a hardware description language."""
