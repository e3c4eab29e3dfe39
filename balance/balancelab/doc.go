// Balancelab measures how well a policy of package balance follows a crowd. It runs a simulated
// space with its crowd, its CellApps and its manager, whose cells and lines are real ones of
// packages balance and bsp.
//
//	go run ./balance/balancelab -scenario star -entities 30000 -cellapps 80 -seconds 600 -svg star.svg
//
// It prints a line for each second and a summary, or with -json the summary as one JSON object.
// README.md explains the figures. The same flags give the same run to the byte, except for the
// manager's CPU time, which -notime leaves out.
//
// # Model
//
// The clock goes by pulses of 50 ms. These things are done at these rates, and this is why that is
// enough:
//
//   - Every 200 ms, the check period of package space: everyone walks on, and CellApps hand over
//     the entities that have left their cells. At 10 m/s that is 2 m a step, against a border band
//     of 10 m; ten steps a second would change nothing.
//   - Every 250 ms: CellApps report their load.
//   - Every second: everyone's load is computed from the neighbours in its area of interest and
//     from its ghosts, and goes into its meter, with the weight of ten ticks.
//   - Every half second, with policy classic every second: the manager gets full reports, with load
//     profiles, and moves lines a quarter of a second later; every three seconds it may add or
//     retire cells. Both periods are flags. lines a quarter of a second later; every three seconds
//     it may add or retire cells. Both periods are flags.
//
// The load of a real is a base and a share for each neighbour within 500 m on either axis, up to
// the number that a client's byte budget would allow, all times a factor of its own, and a share
// for each of its ghosts. A ghost costs the CellApp that holds it. The costs are in costs.go, with
// their origin. Neighbours are counted on a grid of 100 m; see gridSide for the error.
//
// A real is handed over as in package space: when it is more than the border band of 10 m beyond
// its cell, or when the cell retires; at most 100 by each cell in each check. Its smoothed load
// goes with it, so the loads of both cells change at once, and both report what they gained. The
// fewer reals a load comes from, the noisier it is reported. There is a ghost wherever a created
// cell is within 550 m.
//
// The manager applies what the policy plans. A plan that does not fit its tree ends the run with an
// error, since that is a fault of the policy. A new cell is created 0.3 s after it was planned, and
// the geometry reaches all CellApps 0.1 s after it was published.
//
// # What the model leaves out
//
// Handing over takes no time and costs nothing, since CellApps leave migration out of the load that
// they report. Ghosts come and go once a second, without the least lifetime and the slack of
// package space, so there are somewhat fewer than in a real cluster. No message is lost, nobody
// dies, and only the crowd makes load: there are no paths, no scripts, and no overload that slows a
// tick down. Each CellApp is one core and has at most one cell, since there is one space. The
// manager's CPU time is a difference of wall-clock times: on a busy machine its worst is the
// machine's.
package main
