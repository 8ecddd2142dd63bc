// Nothing: a target that precompiles headers needs a source, see tests/CMakeLists.txt.
