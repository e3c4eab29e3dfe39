// Balancelab measures how well a policy of package balance follows a crowd: a simulated space with its crowd, its
// CellApps and its manager, whose cells and lines are real ones of packages balance and bsp.
//
//	go run ./balance/balancelab -scenario star -entities 30000 -cellapps 80 -seconds 600 -svg star.svg
//
// It prints a line for each second and a summary, or with -json the summary as one JSON object. README.md explains the
// figures. The same flags give the same run to the byte, except for the manager's CPU time, which -notime leaves out.
//
// # Model
//
// The clock goes by pulses of 50 ms. What is done at which rate, and why that is enough:
//
//   - Every 200 ms, the check period of package space: everyone walks on, and CellApps hand over who has left their
//     cells. At 10 m/s that is 2 m a step, against a border band of 10 m; ten steps a second would change nothing.
//   - Every 250 ms: CellApps report their load.
//   - Every second: everyone's load is found from the neighbours in its area of interest and from its ghosts, and is
//     taken into its meter, with the weight of ten ticks.
//   - Every half second, with policy classic every second: the manager gets full reports, with load profiles, and moves
//     lines a quarter of a second later; every three seconds it may add or retire cells. Both periods are flags.
//
// The load of a real is a base and so much for each neighbour within 500 m on either axis, up to a number that a
// client's byte budget would allow, times a factor of its own, and so much for each of its ghosts. A ghost costs the
// CellApp that holds it. Costs are in costs.go, with where they come from. Neighbours are counted on a grid of 100 m,
// see gridSide for the error.
//
// A real is handed over as in package space: when it is more than the border band of 10 m beyond its cell, or that retires;
// at most 100 by each cell and check. Its smoothed load goes with it, so that the loads of both cells change at once, and
// both tell what they gained; the fewer reals a load is of, the noisier it is told. There is a ghost wherever a created cell is within 550 m.
//
// The manager applies what the policy plans; a plan that does not fit its tree ends the run with an error, since that is
// a fault of the policy. A new cell is created 0.3 s after it was planned, and the geometry reaches all CellApps 0.1 s
// after it was published.
//
// # What the model leaves out
//
// Handing over takes no time and costs nothing, as CellApps leave migration out of the load that they report. Ghosts
// come and go once a second, without the least life and the slack of package space: there are somewhat fewer than in
// a real cluster. No message is lost, nobody dies, and nothing but the crowd makes load: no paths, no scripts, no
// overload that slows a tick down. Each CellApp is one core and has at most one cell, since there is one space. The
// manager's CPU time is a difference of wall-clock times: on a busy machine its worst is the machine's.
package main
