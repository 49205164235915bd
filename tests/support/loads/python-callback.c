/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module of Python: callback.call(f) calls f from C, in some frames of its own. callback.leak(n)
 * loses n bytes. callback.lend(f) calls f in another thread, with a state that this thread has
 * made, and uses CPU time meanwhile.
 */
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static PyObject *callback_deeper(PyObject *function, volatile int depth)
{
	PyObject *result =
		depth > 0 ? callback_deeper(function, depth - 1) : PyObject_CallNoArgs(function);

	depth = 0; /* (so that it is no tail call) */
	return result;
}

static PyObject *callback_call(PyObject *self, PyObject *function)
{
	(void)self;
	return callback_deeper(function, 3);
}

static PyObject *callback_leak(PyObject *self, PyObject *n)
{
	volatile char *lost = malloc(PyLong_AsSize_t(n));

	(void)self;
	if (lost)
		*lost = 1;
	lost = NULL;
	Py_RETURN_NONE;
}

struct callback_loan {
	PyThreadState *state;
	PyObject *function;
	atomic_bool is_over;
};

static void *callback_borrow(void *userdata)
{
	struct callback_loan *loan = userdata;

	PyEval_RestoreThread(loan->state);
	Py_XDECREF(PyObject_CallNoArgs(loan->function));
	PyThreadState_Clear(loan->state);
	PyThreadState_DeleteCurrent();
	loan->is_over = true;
	return NULL;
}

static PyObject *callback_lend(PyObject *self, PyObject *function)
{
	struct callback_loan loan = { .state = PyThreadState_New(PyInterpreterState_Get()),
				      .function = function };
	pthread_t thread;

	(void)self;
	Py_BEGIN_ALLOW_THREADS;
	if (pthread_create(&thread, NULL, callback_borrow, &loan) != 0)
		abort();
	while (!loan.is_over)
		;
	pthread_join(thread, NULL);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

static PyMethodDef callback_methods[] = {
	{ "call", callback_call, METH_O, NULL },
	{ "leak", callback_leak, METH_O, NULL },
	{ "lend", callback_lend, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef callback_module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "callback",
	.m_size = -1,
	.m_methods = callback_methods,
};

PyMODINIT_FUNC PyInit_callback(void)
{
	return PyModule_Create(&callback_module);
}
