"""Networks of low diameter and fat trees: Slim Fly, PolarFly, Jellyfish, and routing by destination."""
