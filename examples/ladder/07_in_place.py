# SPDX-License-Identifier: BSD-3-Clause
"""One idea: redistribute data where it lies, without a second buffer. Here a matrix that the ranks
have by rows is transposed."""

import numpy as np
import tonari.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
row = 100 * comm.rank + np.arange(comm.size)  # block r goes to rank r
tonari.mpi.alltoall_inplace(row, comm)
assert (row == 100 * np.arange(comm.size) + comm.rank).all()  # a column now
