# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034 # read by the other parts
# Finding MPIs that work. Being installed is not enough: the mpich package of Ubuntu 24.04 starts
# ranks that do not see each other (Launchpad bug 2072338), so every MPI is tried with two ranks
# before it counts as there.

# per MPI found: its prefix, empty for Debian's mpicxx.NAME and mpiexec.NAME
declare -A MPI_ROOT=()
declare -A MPI_REFUSED=()   # wrappers that failed the trial in this run

has_openmpi() { find_mpi openmpi; }
has_mpich() { find_mpi mpich; }
has_abi() { find_mpi abi; }
has_mpi() { has_openmpi || has_mpich; }

# It has no compiler wrapper: it runs what `abi` has built.
has_intel() { has_standard_abi intel; }

# Whether an MPI in the build tree can run programs for the standard ABI.
has_standard_abi() { # openmpi|intel
    [ -x "$LOCAL/$1/bin/mpiexec" ] && [ -e "$LOCAL/$1/lib/libmpi_abi.so.1" ]
}

find_mpi() { # openmpi|mpich|abi
    local bin
    if [ "$1" = abi ]; then
        find_abi
    elif mpi_works "$1" "$LOCAL/$1/bin/mpicxx" "$LOCAL/$1/bin/mpiexec"; then
        MPI_ROOT[$1]=$LOCAL/$1
    elif mpi_works "$1" "mpicxx.$1" "mpiexec.$1"; then
        MPI_ROOT[$1]=''
    elif bin=$(unsuffixed_mpi "$1") && mpi_works "$1" "$bin/mpicxx" "$bin/mpiexec"; then
        MPI_ROOT[$1]=$(dirname "$bin")
    else
        return 1
    fi
}

# In a folder of its own, so that the MPICH which brings it does not replace the one of the system.
find_abi() {
    local wrapper
    for wrapper in {"$LOCAL/abi","$LOCAL/mpich"}/bin/mpicxx_abi "$(command -v mpicxx_abi)"; do
        mpi_works abi "$wrapper" "$(dirname "$wrapper")/mpiexec" || continue
        MPI_ROOT[abi]=$(dirname "$(dirname "$wrapper")")
        return 0
    done
    return 1
}

# The folder of the mpicxx on PATH if it belongs to the given MPI: a module of a cluster, or an own
# installation.
unsuffixed_mpi() {
    local bin kind=none
    bin=$(dirname "$(command -v mpicxx || echo /nowhere/mpicxx)")
    if "$bin/mpicxx" --showme:version 2>&1 | grep -q 'Open MPI'; then
        kind=openmpi
    elif [ -x "$bin/mpichversion" ]; then
        kind=mpich
    fi
    [ "$kind" = "$1" ] && echo "$bin"
}

# Success is remembered in the build tree; a failure is tried again by the next run, which may meet
# a repaired MPI.
mpi_works() { # name wrapper mpiexec
    has "$2" && has "$3" || return 1
    find_cxx || return 0 # nothing to try it with yet: asked again when there is a compiler
    ! grep -qxF "$2" "$BUILD/setup/working-mpi" 2>/dev/null || return 0
    [ -z "${MPI_REFUSED[$2]:-}" ] || return 1
    if two_ranks_meet "$2" "$3" >"$BUILD/setup/mpi-trial.txt" 2>&1; then
        echo "$2" >>"$BUILD/setup/working-mpi"
    else
        MPI_REFUSED[$2]=1
        warn "$2 is there, but two ranks do not meet in one MPI_COMM_WORLD: not used." \
            "(output: $BUILD/setup/mpi-trial.txt)"
        return 1
    fi
}

# In a subshell, so that the settings for root and for machines with few cores end with it.
two_ranks_meet() ( # wrapper mpiexec
    export OMPI_CXX=$CXX_FOUND MPICH_CXX=$CXX_FOUND
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    "$1" "$SOURCE/tools/setup/two_ranks.cpp" -o "$BUILD/setup/two_ranks" &&
        timeout 60 "$2" -n 2 "$BUILD/setup/two_ranks" </dev/null
)
