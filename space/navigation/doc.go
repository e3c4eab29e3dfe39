// Package navigation finds ways on a navigation mesh, and walks entities along them.
//
// # Purpose
//
//	a tile: polygons of walkable ground ── Add, Remove ──> Mesh
//	                                                        │ Path: from, to
//	                                                        v
//	                     script ── Walk ──> controller ── a corner after the other ──> the entity is there
//
// A mesh is what tools such as Recast, or an engine's editor, make of a level for one size of walker:
// convex polygons, each edge of which is a wall or leads to another polygon. This package reads them
// (ReadOBJ), joins tiles where their edges meet, and searches. What makes meshes is not here.
//
// # Contract
//
//   - A way begins and ends on the mesh, and is straight between its corners, which are where it turns, or
//     where the ground does. It is the shortest by the middles of the edges that it crosses, pulled
//     tight: seldom more than a few percent longer than the shortest there is.
//   - Where there is no way to a place, that is an error (ErrNoPath), and so is a place off the mesh
//     (ErrOffMesh). Mesh.Nearest gives one on it.
//   - Tiles come and go while entities walk. A way that was found stays as it is; Path after that knows the
//     new ground. Ways between the same polygons are kept, and forgotten when a tile comes or goes.
//   - The same calls in the same order give the same ways, on any machine.
//
// # Bounds
//
// MaxTiles, MaxPolygons of a tile, MaxRing corners of a polygon; MaxVisited polygons that one search looks
// at, beyond which a place is too far (ErrTooFar); MaxKept ways that are kept; MaxCorners that a walk
// carries, beyond which it searches again on its way.
//
// # Concurrency
//
// A Mesh may be used from any goroutine: CellApps in one OS process share one. It has a lock, which a search
// holds.
//
// # Use
//
// Load tiles where a space loads its geometry (space.Scripts.OnArea), register the controller (Register),
// and give scripts that walk a method Navigator.
package navigation
